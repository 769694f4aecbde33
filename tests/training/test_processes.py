"""Several processes, started by torchrun: the same numbers as one, and one clean end for all."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from clearhead.errors import ArgumentError
from clearhead.training import checkpoint
from clearhead.training.processes import Processes, joined
from clearhead.training.session import open_run


def torchrun(*arguments, count=2):
    """``clearhead train`` in several processes on this machine."""
    # After -- torchrun does not take --run for an abbreviation of an option of its own.
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(count)]
    meeting = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0", "--local-addr"]
    command = [sys.executable, *launcher, *meeting, "127.0.0.1", "-m", "--", "clearhead", "train"]
    return subprocess.Popen(
        [*command, "--fresh", "--threads", "1", *map(str, arguments)],
        stderr=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def weights(path):
    return checkpoint.read(path)["weights"]


def close(one, two):
    assert list(one) == list(two)
    for name, found in one.items():
        np.testing.assert_allclose(found, two[name], rtol=2e-3, atol=2e-5, err_msg=name)


def test_alone_everything_is_one_s_own():
    alone = Processes()
    assert alone.first
    assert alone.share(7) == slice(0, 7)
    assert alone.most(2) == 2
    assert alone.from_first(lambda: "made") == "made"
    sums = torch.ones(2)
    alone.add([sums])
    alone.wait()
    assert sums.tolist() == [1, 1]
    with joined() as processes:
        assert processes.size == 1


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_shares_are_even_and_hold_every_sentence_once(count, size):
    parts = [list(range(count))[Processes(rank, size).share(count)] for rank in range(size)]
    assert [number for part in parts for number in part] == list(range(count))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_the_error_of_the_first_is_an_error_of_the_package():
    def refuse():
        raise ArgumentError("no")

    with pytest.raises(ArgumentError, match="no"):
        Processes().from_first(refuse)


def test_two_processes_make_the_steps_of_one_and_one_goes_on(small_recipe, tmp_path):
    """With dropout, a guided head, an average, and a batch of one sentence among the batches."""
    text = tmp_path / "pairs.tsv"
    text.write_text(text.read_text() + "A " + "cat " * 99 + ".\tUn " + "chat " * 99 + ".\n")
    recipe = small_recipe(steps=6, tokens=400, decay=0.0, dropout=0.2, average=3)
    recipe.write(tmp_path / "recipe.json")
    alone, _ = open_run(recipe, tmp_path / "alone")
    sizes, reports = [], []
    for _ in range(6):
        sizes.append(len(alone._next_batch()))
        alone.at -= 1
        if alone.at < 0:  # the last batch of an epoch
            alone.epoch, alone.at = alone.epoch - 1, len(alone._order) - 1
        reports.append(alone.one_step())
        if alone.step == 4:
            alone.save()
    alone.save()
    assert min(sizes) == 1 < max(sizes)

    common = ("--recipe", tmp_path / "recipe.json", "--run", tmp_path / "two")
    with torchrun(*common, "--steps", 4) as process:
        told = process.communicate(timeout=120)[1]
    assert process.returncode == 0, told
    assert told.count("51 pairs read") == 1
    one, two = (tmp_path / name / checkpoint.name_at(4) for name in ("alone", "two"))
    close(weights(one), weights(two))
    held = [checkpoint.read(path)["average"]["weights"] for path in (one, two)]
    close(*held)
    row = json.loads((tmp_path / "two" / "log.jsonl").read_text().splitlines()[-1])
    assert row["loss"] == pytest.approx(np.mean([r["loss"] for r in reports[:4]]), rel=1e-4)
    assert (tmp_path / "two" / "model" / "config.json").exists()

    goes_on, _ = open_run(recipe, tmp_path / "two")
    assert goes_on.step == 4
    goes_on.run()
    close(
        weights(checkpoint.newest(tmp_path / "alone")), weights(checkpoint.newest(goes_on.folder))
    )


def test_what_the_first_process_refuses_ends_all_with_its_words(small_recipe, tmp_path):
    recipe = small_recipe(pairs={"fr": [str(tmp_path / "gone.tsv")]})
    recipe.write(tmp_path / "recipe.json")
    with torchrun("--recipe", tmp_path / "recipe.json", "--run", tmp_path / "run") as process:
        told = process.communicate(timeout=120)[1]
    assert process.returncode != 0
    assert f"clearhead: {tmp_path / 'gone.tsv'} is not there" in told
    assert "most recent call last" not in told.partition("elastic")[0]


def test_a_signal_to_any_process_ends_all_with_a_checkpoint(small_recipe, tmp_path):
    small_recipe(steps=1_000_000).write(tmp_path / "recipe.json")
    folder = tmp_path / "run"
    with torchrun("--recipe", tmp_path / "recipe.json", "--run", folder, "--every", 1) as process:
        end = time.monotonic() + 120
        while not list(folder.glob("checkpoint-*.pt")) and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.1)
        workers = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        os.kill(int(workers.split()[-1]), signal.SIGTERM)
        told = process.communicate(timeout=120)[1]
    assert process.returncode != 0
    assert "stopped after step" in told, told
    assert "lost another one" not in told
    step = checkpoint.read(checkpoint.newest(folder))["step"]
    assert f"stopped after step {step:,} of" in told
    assert not any(pathlib.Path(f"/proc/{worker}").exists() for worker in workers.split())
