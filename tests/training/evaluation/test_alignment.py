"""Alignment: the arithmetic, on links that are given; and which step is read."""

import numpy as np
import pytest

from clearhead.model.words import words
from clearhead.training.evaluation import alignment
from clearhead.training.evaluation.alignment import align, aligned
from clearhead.training.evaluation.gold import Gold

ROWS = [{"en": "in 2019 we saw Tom", "fr": "Tom vu en 2019"}]


@pytest.fixture
def given(monkeypatch):
    """Links by (shifted or not, layer), as if a model had them."""
    links = np.array([[[0, 0, 0, 0], [4, 0, 0, 1]], [[4, 3, 0, 1], [4, 4, 4, 4]]])
    monkeypatch.setattr(alignment, "aligned", lambda *rest: [(0, links)])


class Small:
    class config:
        decoder_layers = 2


@pytest.mark.usefixtures("given")
def test_a_copied_word_must_be_linked_to_its_copy():
    found = align(Small, ROWS, "fr")
    assert (found.sentences, found.kind, found.known) == (1, "copies", 2)
    assert found.written == (0.0, 1.0)
    assert found.later == (1.0, 0.5)
    assert (found.diagonal, found.gold) == (0.0, None)
    assert found.to_dict()["later"] == (1.0, 0.5)


@pytest.mark.usefixtures("given")
def test_a_noun_that_is_named_in_both_languages_must_be_linked_to_itself():
    rows = [ROWS[0] | {"antecedent_en": "saw", "antecedent_fr": "vu"}]
    found = align(Small, rows, "fr")
    assert (found.kind, found.known) == ("nouns", 1)
    assert (found.written, found.later) == ((0.0, 0.0), (1.0, 0.0))
    twice = [rows[0] | {"antecedent_fr": "Tom", "fr": "Tom vu en Tom"}]
    assert align(Small, twice, "fr").known == 0
    assert align(Small, [rows[0] | {"antecedent_fr": ""}], "fr").known == 0


@pytest.mark.usefixtures("given")
def test_the_error_rate_is_the_one_of_och_and_ney():
    gold = [Gold(frozenset({(4, 0), (1, 3)}), frozenset({(4, 0), (1, 3), (3, 1)}))]
    found = align(Small, ROWS, "fr", gold)
    # Later, layer 0 has the links 4-0 3-1 0-2 1-3: two of two sure ones, three of four possible.
    later, written = found.gold["later"], found.gold["written"]
    assert later["precision"] == (3 / 4, 1 / 4)
    assert later["recall"] == (1.0, 1 / 2)
    assert later["aer"] == pytest.approx((1 - 5 / 6, 1 - 2 / 6))
    assert written["aer"] == pytest.approx((1.0, 1 - 4 / 6))


def test_words_are_linked_batch_by_batch_as_alone(translator):
    texts = [("the cat saw it", "le chat voit"), ("", "il"), ("big", "grand chien car il")] * 2
    found = dict(aligned(translator, texts, "fr"))
    assert sorted(found) == [0, 2, 3, 5]
    assert found[0].shape == (2, 2, 3)
    for i, links in found.items():
        ((_, alone),) = aligned(translator, [texts[i]], "fr")
        assert (links == alone).all()


def test_later_links_are_those_of_the_step_that_reads_a_piece(translator, monkeypatch):
    """A decoder whose step t looks at source piece t: later links lie one piece further."""

    def across(translator, sources, targets):
        steps, pieces = len(targets[0]), len(sources[0])
        return np.eye(steps, pieces)[None, None]

    monkeypatch.setattr(alignment, "_across", across)
    text = "big dog saw it"
    assert len(translator.vocabulary.encode(text).ids) == len(words(text))
    said = "grand chien car"
    assert len(translator.vocabulary.encode(said).ids) == len(words(said))
    ((_, (written, later)),) = aligned(translator, [(text, said)], "fr")
    assert written.tolist() == [[0, 1, 2]]
    assert later.tolist() == [[1, 2, 3]]
