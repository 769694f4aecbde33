import json

import numpy as np
import pytest

from clearhead.core import steps as plain
from clearhead.errors import ArgumentError, TextError
from clearhead.record.census import telling_links
from clearhead.record.choice import Choice
from clearhead.record.looking import look
from clearhead.record.tracing import trace

SENTENCE = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def found(translator):
    return trace(SENTENCE, "it", layer=1, head=0, model=translator)


def test_every_step_follows_from_the_one_before(found):
    x, m, q = found.x.astype(np.float64), found.matrices, found.query
    np.testing.assert_allclose(found.row("queries"), (x @ m["w_q"])[q], atol=1e-12)
    keys, values = x @ m["w_k"], x @ m["w_v"]
    np.testing.assert_allclose(found.row("scores"), keys @ found.row("queries"), atol=1e-9)
    np.testing.assert_allclose(found.row("scaled_scores"), found.row("scores") / np.sqrt(8))
    exps = np.exp(found.row("scaled_scores"))
    np.testing.assert_allclose(found.row("weights"), exps / exps.sum(), atol=1e-12)
    np.testing.assert_allclose(found.row("head_outputs"), found.row("weights") @ values, atol=1e-9)
    np.testing.assert_allclose(found.row("concatenated")[:8], found.row("head_outputs"))
    assert found.row("output").shape == (16,)
    assert isinstance(found.steps, plain.Steps)


def test_the_weights_are_those_that_a_record_holds(found, translator):
    record = look(SENTENCE, translator)
    np.testing.assert_allclose(
        found.row("weights"), record.observations[1].weights[0, found.query], atol=1e-5
    )


def test_the_models_own_output_is_close(found):
    assert 0 <= found.difference < 1e-5
    assert found.guided


def test_word_and_head_are_picked_where_none_is_named(translator):
    best = telling_links(look(SENTENCE, translator))[0]
    picked = trace(SENTENCE, model=translator)
    assert (picked.word, picked.layer, picked.head) == (
        best["from_index"], best["layer"], best["head"],
    )  # fmt: skip
    in_head = trace(SENTENCE, "it", head=1, model=translator)
    best = telling_links(look(SENTENCE, translator), Choice("it", head=1))[0]
    assert (in_head.layer, in_head.head) == (best["layer"], 1)


def test_the_second_of_two_words_can_be_meant(translator):
    found = trace("It saw it.", "it:1", model=translator)
    assert found.word == 2
    assert found.record.words[found.word] == "it"


def test_a_single_word_can_be_followed(translator):
    found = trace("🙂", model=translator)
    assert found.row("weights").sum() == pytest.approx(1)


def test_json_has_every_step(found):
    held = json.loads(json.dumps(found.to_dict()))
    n = len(held["pieces"])
    assert len(held["steps"]["weights"]) == len(held["steps"]["keys"]) == n
    assert held["word"] == "it"
    assert set(held["steps"]) == {
        "queries", "keys", "values", "scores", "scaled_scores", "weights", "head_outputs",
        "concatenated", "output",
    }  # fmt: skip


def test_what_is_not_there_is_refused(translator):
    with pytest.raises(ArgumentError, match="the sentence has The animal"):
        trace(SENTENCE, "dog", model=translator)
    with pytest.raises(ArgumentError, match="layer: found 7; wanted 0 … 1"):
        trace(SENTENCE, "it", layer=7, model=translator)
    with pytest.raises(TextError):
        trace("", model=translator)
