"""A BERT-type encoder in front of a translator: its pieces, its states, and what is refused."""

import dataclasses
import json

import numpy as np
import pytest

from clearhead.errors import ModelError, TextError
from clearhead.model.bert import bert_shapes, bert_states
from clearhead.model.checkpoint_folder import read_checkpoint
from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import random_weights, weight_shapes
from clearhead.model.source import SourcePieces, source_states, source_width
from clearhead.model.translation import encode, encode_states
from clearhead.model.tree import flatten
from clearhead.model.vocabulary import Vocabulary
from support.bert import MINILM, small_folder


@pytest.fixture(scope="module")
def pieces():
    return SourcePieces((MINILM / "tokenizer.json").read_text(encoding="utf-8"))


@pytest.fixture
def bert(tmp_path):
    return read_checkpoint(small_folder(tmp_path / "bert"))


def test_pieces_begin_with_cls_and_leave_the_end_to_the_caller(pieces):
    text = "An unbelievably tall tree."
    found = pieces.encode(text)
    assert pieces.piece(found.ids[0]) == "[CLS]"
    assert pieces.piece(pieces.end) == "[SEP]"
    assert pieces.end not in found.ids
    assert (found.ids[0], found.spans[0]) == (pieces.begin, (0, 0))
    assert found.slots == []
    assert text[found.spans[1][0] : found.spans[1][1]] == "An"


def test_long_sentences_are_not_cut_off(pieces):
    assert len(pieces.encode("a " * 700).ids) == 701


def test_a_lone_surrogate_is_refused(pieces):
    with pytest.raises(TextError, match="lone surrogate"):
        pieces.encode("\ud800")


def test_what_is_no_tokenizer_is_refused(pieces):
    with pytest.raises(ModelError, match="cannot be read"):
        SourcePieces("{}")
    bare = pieces.to_json() | {"post_processor": None}
    with pytest.raises(ModelError, match="sets 0 special pieces"):
        SourcePieces(json.dumps(bare))


def test_a_vocabulary_keeps_them(pieces, tmp_path):
    texts = ["the cat sat"] * 99
    plain = Vocabulary.learn(texts, size=300, languages=("fr",))
    assert plain.source is plain
    plain.source = pieces
    plain.save(tmp_path / "v.json")
    again = Vocabulary.read(tmp_path / "v.json")
    assert again.source.encode("The cat.").ids == pieces.encode("The cat.").ids
    assert again.encode("the cat").ids == plain.encode("the cat").ids


@pytest.mark.parametrize("source", ["junk", {}, [], 3])
def test_a_vocabulary_with_a_damaged_source_is_refused(tmp_path, source):
    Vocabulary.learn(["the cat"] * 99, size=300, languages=("fr",)).save(tmp_path / "v.json")
    held = json.loads((tmp_path / "v.json").read_text()) | {"source": source}
    (tmp_path / "v.json").write_text(json.dumps(held))
    with pytest.raises(ModelError, match="source"):
        Vocabulary.read(tmp_path / "v.json")


def test_states_are_those_of_first_middle_and_last_layer(bert):
    config, weights = bert
    ids, lengths = np.array([[101, 7, 8, 102], [101, 9, 102, 0]]), np.array([4, 3])
    layers = bert_states(weights, config, ids, lengths)
    found = source_states(weights, config, ids, lengths)
    assert found.shape == (2, 4, source_width(config))
    assert np.array_equal(found, np.concatenate([layers[0], layers[0], layers[1]], -1))


def test_shapes_are_those_of_the_weights(bert):
    config, weights = bert
    assert {n: a.shape for n, a in flatten(weights).items()} == bert_shapes(config)


def test_a_translator_reads_through_the_bridge(bert):
    source, held = bert
    config = TranslationConfig(
        vocabulary=300, width=16, heads=2, encoder_layers=1, decoder_layers=1, source=source
    )
    weights = {**random_weights(config), "source": held}
    assert {n: a.shape for n, a in flatten(weights).items()} == weight_shapes(config)
    ids, lengths = np.array([[101, 7, 102, 0]]), np.array([3])
    states = source_states(held, source, ids, lengths)
    entered = encode_states(weights, config, ids, lengths)
    assert np.array_equal(entered[0], states @ weights["bridge"])
    given = encode_states(weights, config, ids, lengths, states)
    assert np.array_equal(entered[-1], given[-1])
    assert np.array_equal(entered[-1], encode(weights, config, ids, lengths))


def test_a_config_with_a_source_comes_back(bert):
    config = TranslationConfig(vocabulary=300, source=bert[0])
    assert TranslationConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert "source" not in TranslationConfig(vocabulary=300).to_dict()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"positions": 128}, "reads 128 pieces; wanted at least 512"),
        ({"width": 10**9}, "found hidden_size 1000000000"),
        ({"colour": 1}, "colour"),
    ],
)
def test_a_config_with_an_odd_source_is_refused(bert, changes, message):
    entries = TranslationConfig(vocabulary=300, source=bert[0]).to_dict()
    entries["source"] = dataclasses.asdict(bert[0]) | changes
    with pytest.raises(ModelError, match=message):
        TranslationConfig.from_dict(entries)
