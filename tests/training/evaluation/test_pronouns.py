"""Contrast, on scores that a table gives."""

import pytest

from clearhead.training.evaluation.pronouns import (
    contrast,
    contrast_columns,
    log_probabilities_of,
)


class Scorer:
    """Prefers what its table says, and keeps what it was asked."""

    def __init__(self, table):
        self.table, self.asked = table, []

    def score(self, sources, targets, to):
        self.asked += zip(sources, targets, strict=True)
        return [self.table[target] for target in targets]


def test_a_pair_is_right_when_both_sentences_are():
    rows = [
        {"en": "x", "fr": good, "fr_contrast": bad, "pair": pair}
        for good, bad, pair in [("a", "b", "1"), ("b", "a", "1"), ("c", "d", "2"), ("c", "b", "2")]
    ]
    found = contrast(Scorer({"a": -1, "b": -2, "c": 0, "d": -3}), rows, "fr")
    assert (found.sentences, found.right, found.pairs, found.pairs_right) == (4, 3, 2, 1)
    assert found.answers == (True, False, True, True)
    assert (found.chance, found.every, found.by_pronoun) == (0.5, None, {})
    assert "answers" not in found.to_dict()


def test_equal_scores_are_not_right():
    rows = [{"en": "x", "fr": "a", "fr_contrast": "a"}]
    found = contrast(Scorer({"a": -1}), rows, "fr")
    assert (found.right, found.pairs) == (0, 0)


def test_several_contrasts_must_all_be_lower_and_an_empty_one_is_none():
    rows = [
        {"en": "x", "de": "a", "de_contrast1": "b", "de_contrast2": "c", "de_pronoun": "er"},
        {"en": "x", "de": "a", "de_contrast1": "b", "de_contrast2": "", "de_pronoun": "er"},
        {"en": "x", "de": "a", "de_contrast1": "b", "de_contrast2": "b", "de_pronoun": "sie"},
    ]
    found = contrast(Scorer({"a": -2, "b": -3, "c": -1}), rows, "de")
    assert found.answers == (False, True, True)
    assert found.chance == pytest.approx((1 / 3 + 1 / 2 + 1 / 3) / 3)
    assert found.by_pronoun == {"er": (1, 2), "sie": (1, 1)}


def test_a_third_pronoun_is_told_apart():
    row = {"en": "x", "de": "a", "de_contrast": "b", "de_contrast_other": "c"}
    found = contrast(Scorer({"a": -2, "b": -3, "c": -1}), [row, row], "de")
    assert (found.right, found.every, found.chance) == (2, 0, 0.5)
    assert contrast_columns(row, "de") == ["de_contrast"]
    assert contrast_columns(row, "fr") == []


def test_a_sentence_before_is_read_too():
    scorer = Scorer({"P a": -1, "P b": -2, "a": 0, "b": 0})
    row = {"en_prev": "E", "en": "x", "fr_prev": "P", "fr": "a", "fr_contrast": "b"}
    assert contrast(scorer, [row], "fr").right == 1
    assert scorer.asked == [("E x", "P a"), ("E x", "P b")]


def test_short_sources_are_read_first_each_with_its_translations_and_the_order_is_kept():
    scorer, told = Scorer({"aa": -2, "a": -1, "b": -3}), []
    sources, targets = ["long", "y", "long"], ["aa", "b", "a"]
    assert log_probabilities_of(scorer, sources, targets, "fr", told.append) == [-2, -3, -1]
    assert scorer.asked == [("y", "b"), ("long", "a"), ("long", "aa")]
    assert told == [3]


def test_no_rows_are_no_sentences():
    found = contrast(Scorer({}), [], "fr")
    assert (found.sentences, found.chance, found.answers) == (0, 0, ())
