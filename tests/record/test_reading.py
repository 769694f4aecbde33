from pathlib import Path

import numpy as np
import pytest

from clearhead.core.observation import Observation, Observe
from clearhead.errors import ArgumentError, ModelError, TextError
from clearhead.layer.multihead import multi_head_attention
from clearhead.record.reading import MOST_PIECES, one_of, reader_of


@pytest.fixture
def reader(translator):
    return reader_of(translator)


def test_pieces_stand_for_the_characters_of_the_sentence_as_it_was_written(reader):
    text = "  The\tcat \n sat. "
    _, pieces = reader.cut(text)
    assert pieces[-1].span is None
    shown = "".join(text[a:b].strip() for a, b in (piece.span for piece in pieces[:-1]))
    assert shown == "Thecatsat."


def test_white_space_changes_nothing_for_the_model(reader):
    assert reader.cut(" The  cat\n")[0] == reader.cut("The cat")[0]


def test_observations_are_those_of_one_sentence(reader):
    ids, _ = reader.cut("It is 2026.")
    seen = reader.observations(ids, Observe(weights=True, entropy=True))
    assert len(seen) == reader.layers == 2
    assert seen[0].weights.shape == (2, len(ids), len(ids))
    assert seen[0].entropy.shape == (2, len(ids))
    np.testing.assert_allclose(seen[1].weights.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("layer", [0, 1])
def test_what_enters_an_attention_gives_what_was_observed(reader, layer):
    ids, _ = reader.cut("It is 2026.")
    x, weights = reader.attention_of(ids, layer)
    _, seen = multi_head_attention(x, weights, 2, observe=Observe(weights=True))
    wanted = reader.observations(ids, Observe(weights=True))[layer]
    np.testing.assert_allclose(seen.weights[0], wanted.weights, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", TextError, "the sentence is empty"),
        (" \n\t\u2028", TextError, "the sentence is empty"),
        ("a " * 10_000, TextError, "at most 512 pieces"),
        ("x y " * 100_000, TextError, "400000 characters"),
        ("half \ud83d", TextError, "lone surrogate at character 5"),
        (b"bytes", ArgumentError, "found bytes; wanted a sentence"),
    ],
)
def test_a_sentence_that_cannot_be_looked_into_is_refused(reader, text, error, message):
    with pytest.raises(error, match=message):
        reader.checked(text)


def test_the_longest_sentence_is_read(reader):
    one = len(reader.cut("a a")[0]) - len(reader.cut("a")[0])
    text = "a " * ((MOST_PIECES - 1) // one)
    assert len(reader.checked(text)[0]) <= MOST_PIECES
    with pytest.raises(TextError):
        reader.checked(text + "a a a a")


def test_a_folder_that_holds_no_model_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"holds no config\.json: it is no model folder"):
        reader_of(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match="cannot be read as JSON"):
        reader_of(str(tmp_path))
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(ModelError):
        reader_of(tmp_path)
    for odd in (Path("/no/such/folder"), tmp_path / "config.json"):
        with pytest.raises(ModelError, match="is no folder; wanted one with config"):
            reader_of(odd)


def test_anything_else_is_refused():
    with pytest.raises(ArgumentError, match=r"found dict; wanted a translator, an encoder"):
        reader_of({})


def test_a_reader_is_its_own_reader(reader):
    assert reader_of(reader) is reader


def test_the_axis_of_sentences_is_taken_away():
    seen = Observation(visible=np.ones((1, 2, 3), bool), entropy=np.zeros((1, 2, 3)))
    found = one_of(seen)
    assert found.visible.shape == found.entropy.shape == (2, 3)
    assert found.weights is None


def test_thousands_of_marks_in_one_word_are_refused_before_any_table_is_made(reader):
    with pytest.raises(TextError, match="5000 words and marks"):
        reader.checked("'" * 5000)
