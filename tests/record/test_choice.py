"""One choice narrows the links of the sentence and those of the translation, each by its rule."""

import numpy as np
import pytest

from clearhead.core.observation import Observation
from clearhead.errors import ArgumentError
from clearhead.record.census import telling_links
from clearhead.record.choice import Choice
from clearhead.record.record import Record
from clearhead.record.sight import Sight
from clearhead.record.words import Piece, Words


def words(text):
    spans = Words(text, ()).spans
    return Words(text, tuple(Piece(text[a:b], (a, b)) for a, b in spans))


@pytest.fixture
def record(rng):
    """A sentence of three words in 2 layers of 2 heads, a translation of four in 1 of 3."""

    def sight(kind, queries, keys, layers, heads):
        shape = (layers, heads, len(queries))
        seen = rng.dirichlet(np.ones(len(keys)), shape)
        held = tuple(Observation(visible=w.any(-1), weights=w) for w in seen)
        return Sight(kind, queries, keys, held)

    said, other = words("the cat ran"), words("le chat a couru")
    encoder = sight("encoder", said, said, 2, 2)
    return Record(encoder, (), "le chat a couru", "fr", sight("cross", other, said, 1, 3))


def test_words_look_in_the_sentence_and_are_looked_at_by_the_translation(record):
    choice = Choice(["cat", "ran"])
    assert choice.links(record.encoder) == [
        link for link in record.links() if link["from"] in ("cat", "ran")
    ]
    everything = Choice().links(record.cross)
    assert everything == record.cross.links()
    kept = choice.links(record.cross)
    assert kept == [link for link in everything if link["to"] in ("cat", "ran")]
    assert 0 < len(kept) < len(everything)


def test_layer_and_head_are_those_of_each_part(record):
    here = Choice(layer=0, head=1)
    assert {(k["layer"], k["head"]) for k in here.links(record.cross)} == {(0, 1)}
    only_in_the_sentence = Choice(layer=1)
    assert only_in_the_sentence.links(record.encoder)
    assert only_in_the_sentence.links(record.cross) == []
    assert not only_in_the_sentence.is_in(record.cross)
    with pytest.raises(ArgumentError, match="head: found 2; wanted 0 … 1"):
        Choice(head=2).links(record.encoder)


def test_json_and_telling_links_are_narrowed_alike(record):
    choice = Choice("cat", layer=0, head=1)
    told = record.to_dict(choice)
    for name, cross in (("links", False), ("cross", True)):
        telling = telling_links(record, choice, cross=cross)
        places = [{k: v for k, v in each.items() if k in told[name][0]} for each in telling]
        assert sorted(places, key=str) == sorted(told[name], key=str)


def test_words_stand_in_the_order_asked_for_and_once():
    said = words("it saw it")
    assert Choice(["saw", "it", "it:2"]).indices(said) == [1, 0, 2]
    assert Choice().indices(said) is None
    assert Choice([]).indices(said) == []
    with pytest.raises(ArgumentError, match="found 'dog'; the sentence has it saw"):
        Choice("dog").indices(said)


def test_one_word_may_stand_alone():
    assert Choice("it") == Choice(["it"])
    assert Choice(2) == Choice((2,))
