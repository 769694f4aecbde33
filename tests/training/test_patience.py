"""Early stopping: what is better, how long to wait, and what a run that goes on remembers."""

import pytest

from clearhead.training.patience import Patience, mean_bleu


def scores(*values):
    return {tag: {"bleu": value} for tag, value in zip(("fr", "de"), values, strict=False)}


def test_better_goes_by_the_mean_over_the_languages():
    assert mean_bleu(scores(30.0, 10.0)) == 20.0
    patience = Patience(3)
    assert patience.better(10, scores(30.0, 10.0))
    assert not patience.better(20, scores(35.0, 5.0))
    assert patience.better(30, scores(29.0, 12.0))
    assert (patience.step, patience.best, patience.waited) == (30, 20.5, 0)


@pytest.mark.parametrize(("most", "spent"), [(0, False), (1, True), (2, True), (3, False)])
def test_it_is_spent_after_as_many_as_it_was_told(most, spent):
    patience = Patience(most)
    for step, value in enumerate((5.0, 4.0, 5.0)):
        patience.better(step, scores(value))
    assert patience.spent is spent


def test_the_rows_of_the_log_are_remembered():
    rows = [
        {"step": 1, "loss": 3.0},
        {"step": 2, "dev": scores(9.0)},
        {"step": 3, "dev": scores(8)},
    ]
    patience = Patience(2, rows)
    assert (patience.step, patience.best, patience.waited, patience.spent) == (2, 9.0, 1, False)


def test_a_model_that_does_not_translate_yet_is_waited_for():
    patience = Patience(1)
    for step, value in enumerate((0.5, 0.1, 0.0)):
        patience.better(step, scores(value))
    assert not patience.spent
    patience.better(4, scores(2.0))
    patience.better(5, scores(1.9))
    assert patience.spent
