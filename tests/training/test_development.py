"""Scores on the way: an even sample, no number of the run changed."""

import numpy as np
import pytest

from clearhead.model.tree import flatten
from clearhead.training.development import development_scores
from clearhead.training.session import open_run


@pytest.fixture
def dev(tmp_path):
    rows = [f"The cat sleeps {n} times.\tLe chat dort {n} fois." for n in range(9)]
    (tmp_path / "dev.tsv").write_text("\n".join(["en\tfr", *rows]) + "\n")
    return {"fr": str(tmp_path / "dev.tsv")}


def test_a_sample_of_the_dev_lines_is_scored(small_recipe, tmp_path, dev):
    trainer, vocabulary = open_run(small_recipe(dev=dev), tmp_path / "run")
    trainer.one_step()
    before = flatten(trainer.weights())
    found = development_scores(trainer, vocabulary, 4)
    assert found["fr"]["lines"] == 4
    assert 0 <= found["fr"]["bleu"] <= 100
    assert all(np.array_equal(a, before[n]) for n, a in flatten(trainer.weights()).items())


def test_scoring_changes_no_later_step(small_recipe, tmp_path, dev):
    losses = []
    for name, lines in (("a", 4), ("b", 0)):
        trainer, vocabulary = open_run(small_recipe(dev=dev), tmp_path / name)
        trainer.one_step()
        development_scores(trainer, vocabulary, lines)
        losses.append(trainer.one_step()["loss"])
    assert losses[0] == losses[1]


def test_nothing_is_scored_where_nothing_is_asked(small_recipe, tmp_path, dev):
    trainer, vocabulary = open_run(small_recipe(), tmp_path / "run")
    assert development_scores(trainer, vocabulary, 4) == {}
    trainer, vocabulary = open_run(small_recipe(dev=dev), tmp_path / "other")
    assert development_scores(trainer, vocabulary, 0) == {}
    trainer.interrupts.ask(2)
    assert development_scores(trainer, vocabulary, 4) == {}
