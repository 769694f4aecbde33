"""The translation benchmark: its arithmetic, and the whole of it on a handful of sentences."""

import json
import math

import pytest

import translation
from translation_table import running
from translation_table.ours import Ours, first_sentences
from translation_table.ratios import batches, ratio, row, table


@pytest.fixture
def as_before(monkeypatch):
    import torch

    import clearhead as ch

    threads = torch.get_num_threads()
    for name in ("OPENBLAS_NUM_THREADS", "OPENBLAS_THREAD_TIMEOUT", "TRANSFORMERS_VERBOSITY"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(running, "_REST", 0)
    yield
    torch.set_num_threads(threads)
    ch.set_threads(None)


def test_batches_hold_equally_long_translations_and_every_sentence_once():
    found = batches([[1]] * 5, [9, 1, 8, 2, 3], 2)
    assert found == [[1, 3], [4, 2], [0]]


def test_the_ratio_is_that_of_the_medians():
    assert ratio([1.0, 5.0, 2.0], [6.0, 3.0, 100.0]) == 3.0


def test_a_row_says_who_was_how_fast_and_what_was_wanted():
    found = row("generate", 1, 1, 60, [2.0], [6.0], pieces=7)
    assert found["ours_per_second"] == 30
    assert found["peer_per_second"] == 10
    assert found["ratio"] == found["bar"] == 3
    assert found["pieces"] == 7
    assert row("generate", 4, 32, 60, [1.0], [1.0])["bar"] is None
    assert row("ctranslate2", 1, "best", 60, [1.0], [1.0])["bar"] is None


def test_the_table_has_a_line_for_each_row():
    found = [row("ctranslate2", 4, "best", 60, [2.0], [1.0])]
    assert table(found).splitlines()[2:] == [
        "| beam 4 | ctranslate2, each its best batch | 30 | 60 | **0.50 x** |  |"
    ]


def test_calls_are_timed_in_turn_and_the_first_round_does_not_count():
    order = []
    times = running.interleaved([lambda: order.append(1), lambda: order.append(2)], 2, rest=0)
    assert order == [1, 2] * 3
    assert [len(t) for t in times] == [2, 2]


def test_sentences_are_taken_at_even_steps():
    three = first_sentences(3)
    assert len(set(three)) == 3
    assert three[0] == first_sentences(1)[0]
    assert three == sorted(three, key=three.index)


def test_texts_that_depend_on_the_batch_are_noticed(monkeypatch):
    ours = Ours(["Thank you.", "I am here."])
    assert ours.check(1, [1, None]) <= 1e-4
    right = ours._candidates
    monkeypatch.setattr(ours, "_candidates", lambda beam, batch: right(beam, batch)[:: batch or -1])
    with pytest.raises(AssertionError, match="differ by batch"):
        ours.check(1, [1, None])


def test_the_whole_beside_generate(as_before, capsys):
    options = ["--sentences", "3", "--rounds", "1", "--threads", "1", "--beams", "1", "2"]
    assert translation.main([*options, "--peers", "generate", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [(r["beam"], r["batch"]) for r in found["rows"]] == [(1, 1), (1, 32), (2, 32)]
    alone, together, _ = found["rows"]
    assert alone["pieces"] == alone["peer_pieces"] <= together["peer_pieces"]
    assert all(math.isfinite(r["ratio"]) for r in found["rows"])
    assert "the same text at batches 1, 32 and default" in err


def test_a_peer_that_is_not_installed_is_named(as_before, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ctranslate2", None)
    options = ["--sentences", "2", "--rounds", "1", "--threads", "1", "--beams", "1"]
    assert translation.main([*options, "--peers", "ctranslate2"]) == 0
    out = capsys.readouterr().out
    assert "ctranslate2 is not here" in out
    assert "pip install 'clearhead[bench]'" in out
