"""What heads look at from "it", where the weights are known."""

import numpy as np
import pytest

from clearhead.errors import ArgumentError
from clearhead.training.evaluation.links import Heads, best_unguided, cross_heads, heads

TEXT = "The cat saw the dog, and it was big because it can."
ROW = {"en": TEXT, "antecedent_en": "cat", "other_en": "dog"}


def test_heads_that_look_everywhere_alike_give_each_piece_its_share(translator):
    found = heads(translator, [ROW])
    pieces = len(translator.vocabulary.encode(TEXT).ids) + 1
    assert (found.sentences, found.rows, found.kind) == (1, 1, "encoder")
    assert found.weight == pytest.approx(1 / pieces, abs=1e-6)
    assert found.chance == pytest.approx(1 / 13)  # of the others: "it" itself is none
    assert found.guided == ((0, 1),)


def test_most_is_of_all_words_but_itself_and_a_word_of_many_pieces_has_their_sum(translator):
    def most(noun, text="Big catdogbigcat saw it."):
        row = {"en": text, "antecedent_en": noun}
        found = heads(translator, [row])
        assert found.more is None
        return found.most.tolist(), found.hits.shape

    assert most("catdogbigcat") == ([[1.0, 1.0]], (1, 1, 2))
    assert most("saw") == ([[0.0, 0.0]], (1, 1, 2))


def test_rows_without_their_words_are_left_out(translator):
    row = {"en": "The cat saw it.", "antecedent_en": "cat", "other_en": "lion"}
    rows = [row, row | {"other_en": ""}, row | {"en": "The cat saw a lion."}]
    found = heads(translator, rows)
    assert (found.sentences, found.rows, found.more.sum()) == (0, 3, 0)
    assert not found.read.any()


def test_without_another_noun_it_must_be_clear_which_it_is_meant(translator):
    rows = [
        {"en": TEXT, "antecedent_en": "cat"},
        {"en": "The cat? It's big.", "antecedent_en": "cat"},
    ]
    found = heads(translator, rows)
    assert found.read.tolist() == [False, True]
    assert heads(translator, [ROW]).read.tolist() == [True]  # the last one, by convention


def test_the_cross_attention_is_read_as_the_pronoun_is_chosen(translator):
    row = ROW | {"fr": "le chat est grand, il voit", "fr_contrast": "le chat est grand, elle voit"}
    found = cross_heads(translator, [row], "fr")
    assert (found.kind, found.sentences, found.guided) == ("cross", 1, ())
    assert found.most.shape == (2, 2)
    pieces = len(translator.vocabulary.encode(TEXT).ids) + 1
    assert found.weight == pytest.approx(1 / pieces, abs=1e-6)


def test_rows_without_a_contrast_are_left_out_of_the_cross_attention(translator):
    rows = [
        ROW | {"fr": "il voit", "fr_contrast1": "", "fr_contrast2": other} for other in ("", "elle")
    ]
    assert cross_heads(translator, rows, "fr").read.tolist() == [False, True]


def test_the_step_that_looks_writes_the_first_piece_that_differs(translator, monkeypatch):
    asked = []

    def decode(weights, config, ids, memory, observe):
        asked.append((ids.shape[1], observe.rows))
        return original(weights, config, ids, memory, observe=observe)

    module = "clearhead.training.evaluation.links"
    original = __import__(module, fromlist=["decode"]).decode
    monkeypatch.setattr(f"{module}.decode", decode)
    row = ROW | {"fr": "il voit", "fr_contrast": "elle voit"}
    cross_heads(
        translator, [row, row | {"fr": "le chat: il voit", "fr_contrast": "le chat: elle"}], "fr"
    )
    before = len(translator.vocabulary.encode("le chat:").ids)
    assert asked == [(1, (0,)), (1 + before, (before,))]


def looked(more, guided):
    share = np.array(more)
    return Heads("encoder", 1, 1, share, share, 0.1, share, guided, None, None)


def test_the_best_unguided_head_is_not_the_guided_one():
    assert best_unguided(looked([[0.5, 0.7], [1.0, 0.6]], ((1, 0),))) == (0, 1)
    with pytest.raises(ArgumentError, match="every head was guided"):
        best_unguided(looked([[1.0]], ((0, 0),)))
    nothing = Heads("encoder", 1, 1, None, None, 0.1, None, (), None, None)
    with pytest.raises(ArgumentError, match="wanted a column other_en"):
        best_unguided(nothing)
