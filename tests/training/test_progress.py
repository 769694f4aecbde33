"""The log: means, each step told once, no half rows."""

import json
import math

import pytest

from clearhead.errors import TrainingError
from clearhead.training.progress import RunLog


def step(number, **changes):
    held = {"epoch": 0, "loss": 1.0, "guide": math.nan, "norm": 1.0, "rate": 0.1, "tokens": 10}
    return held | {"step": number, "tokens_per_second": 5.0} | changes


def rows(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_a_row_holds_means_of_the_steps_since_the_last(tmp_path):
    log = RunLog(tmp_path, step=0, every=2)
    assert log.add(step(1, loss=1.0, guide=2.0), 2.0) is None
    row = log.add(step(2, loss=3.0, tokens=30, tokens_per_second=30.0), 3.0)
    assert rows(tmp_path) == [row]
    assert (row["loss"], row["guide"], row["seconds"]) == (2.0, 2.0, 3.0)
    assert row["tps"] == pytest.approx(40 / 3)


def test_steps_without_marks_have_no_guide_loss(tmp_path):
    log = RunLog(tmp_path, step=0, every=1)
    assert log.add(step(1), 1.0)["guide"] is None


def test_the_last_steps_have_a_row_too(tmp_path):
    log = RunLog(tmp_path, step=0, every=50)
    assert log.flush(0.0) is None
    log.add(step(3), 1.0)
    assert log.flush(1.0)["step"] == 3
    assert log.flush(1.0) is None
    assert len(rows(tmp_path)) == 1


def test_rows_that_were_lost_with_the_interruption_are_told_once(tmp_path):
    log = RunLog(tmp_path, step=0, every=1)
    for number in range(1, 6):
        log.add(step(number), 1.0)
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 2, "cut o')
    log = RunLog(tmp_path, step=3, every=1)
    log.add(step(4, loss=9.0), 1.0)
    assert [(row["step"], row["loss"]) for row in rows(tmp_path)] == [
        (1, 1.0), (2, 1.0), (3, 1.0), (4, 9.0)
    ]  # fmt: skip


def test_a_log_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "log.jsonl").mkdir()
    with pytest.raises(TrainingError, match=r"log\.jsonl cannot be written"):
        RunLog(tmp_path, step=0)
