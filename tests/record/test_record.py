import json

import numpy as np
import pytest

from clearhead.core.observation import Observation
from clearhead.errors import ArgumentError, KindError
from clearhead.record.choice import Choice
from clearhead.record.record import Record
from clearhead.record.sight import Sight
from clearhead.record.words import Piece, Words


def record_of(text, weights, guided=()):
    """A record of one-piece words and an end mark; weights (layers, heads, N, N)."""
    at, pieces = 0, []
    for word in text.split():
        pieces.append(Piece(word, (at, at + len(word))))
        at += len(word) + 1
    said = Words(text, (*pieces, Piece("</s>")))
    seen = tuple(Observation(visible=w.any(-1), weights=w) for w in np.asarray(weights))
    return Record(Sight("encoder", said, said, seen), guided, "un deux", "fr")


@pytest.fixture
def record(rng):
    return record_of("one two three", rng.dirichlet(np.ones(4), (2, 3, 4)), ((1, 2),))


def test_links_are_the_strongest_to_another_word_by_weight(record):
    links = record.links()
    assert len(links) == 2 * 3 * 3
    assert [link["weight"] for link in links] == sorted((k["weight"] for k in links), reverse=True)
    for link in links:
        row = (
            record.observations[link["layer"]].weights[link["head"], link["from_index"], :3].copy()
        )
        row[link["from_index"]] = -1
        assert link["to_index"] == row.argmax()
        assert link["weight"] == pytest.approx(row.max(), abs=1e-6)
        assert record.words[link["from_index"]] == link["from"]
        assert record.words[link["to_index"]] == link["to"]
        assert link["kind"] == "encoder"


def test_links_can_be_narrowed(record):
    assert {k["from"] for k in record.links("two")} == {"two"}
    assert {(k["layer"], k["head"]) for k in record.links(layer=1, head=2)} == {(1, 2)}
    assert len(record.links("two", 0, 0)) == 1


@pytest.mark.parametrize(("place", "message"), [
    ({"layer": 2}, "layer: found 2; wanted 0 … 1"), ({"head": -1}, "head: found -1; wanted 0 … 2"),
])  # fmt: skip
def test_a_place_that_is_not_there_is_refused(record, place, message):
    with pytest.raises(ArgumentError, match=message):
        record.links(**place)


@pytest.mark.parametrize("place", ["a", 1.0, True, [0]])
def test_a_place_that_is_no_number_is_refused(record, place):
    for name in ("layer", "head"):
        with pytest.raises(KindError, match=f"{name}: found .*; wanted a whole number, 0 … "):
            record.links(**{name: place})
    assert record.links(layer=np.int64(1)) == record.links(layer=1)


def test_what_special_pieces_took_is_a_remainder(record):
    sight = record.encoder
    assert sight.special.shape == (2, 3, 3)
    np.testing.assert_allclose(sight.weights.sum(-1) + sight.special, 1)
    np.testing.assert_array_equal(sight.blank, 0)


def test_a_piece_between_the_words_is_kept_apart():
    said = Words("a  b", (Piece("a", (0, 1)), Piece(" ", (1, 2)), Piece("b", (2, 4))))
    seen = Observation(visible=np.ones((1, 3), bool), weights=np.full((1, 3, 3), 1 / 3))
    sight = Sight("encoder", said, said, (seen,))
    np.testing.assert_allclose(sight.blank, np.full((1, 1, 2), 1 / 3))
    np.testing.assert_array_equal(sight.special, 0)


def test_a_word_that_may_look_at_nothing_has_no_link():
    weights = np.zeros((1, 1, 3, 3))
    weights[0, 0, 0] = [0, 1, 0]
    record = record_of("one two", weights)
    assert not record.observations[0].visible[0, 1]
    assert [(k["from"], k["to"]) for k in record.links()] == [("one", "two")]


def test_a_link_that_fades_away_is_still_the_strongest():
    """Every word, layer and head has its link; who may look is decided by the mask alone."""
    weights = np.zeros((1, 1, 3, 3))
    weights[..., 2] = 1  # all of it goes to the end mark, and what is left is below any number
    record = record_of("one two", weights)
    assert [(k["from"], k["to"], k["weight"]) for k in record.links()] == [
        ("one", "two", 0.0), ("two", "one", 0.0),
    ]  # fmt: skip


def test_a_single_word_has_no_link_to_another():
    assert record_of("one", np.full((1, 1, 2, 2), 0.5)).links() == []


@pytest.mark.parametrize("path", [5, b"x.json", None])
def test_what_is_no_path_is_not_written_to(record, path):
    with pytest.raises(KindError, match=r"path: found .*; wanted text or a pathlib\.Path"):
        record.save(path)


def test_json_is_what_the_design_says(record, tmp_path):
    record.save(tmp_path / "x.json")
    found = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert list(found) == [
        "sentence", "translation", "language", "tokens", "layers", "heads", "guided", "links",
    ]  # fmt: skip
    assert found == json.loads(json.dumps(record.to_dict()))
    assert found["tokens"] == ["one", "two", "three"]
    assert (found["layers"], found["heads"], found["guided"]) == (2, 3, [[1, 2]])
    assert set(found["links"][0]) == {
        "from", "from_index", "to", "to_index", "layer", "head", "weight", "kind",
    }  # fmt: skip


def test_json_can_be_narrowed(record):
    found = json.loads(record.to_json(Choice(["two", "three"], layer=0, head=1)))
    assert {k["from"] for k in found["links"]} == {"two", "three"}
    assert len(found["links"]) == 2


def test_json_of_a_single_word():
    assert json.loads(record_of("one", np.full((1, 1, 2, 2), 0.5)).to_json())["links"] == []


@pytest.mark.parametrize("name", ["x.html", "x.png", "x"])
def test_another_format_is_refused_and_the_possible_one_named(record, tmp_path, name):
    with pytest.raises(ArgumentError, match=r"wanted a name that ends in \.json"):
        record.save(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_weights_that_were_not_observed_are_asked_for():
    said = Words("one", (Piece("one", (0, 3)),))
    record = Record(Sight("encoder", said, said, (Observation(visible=np.ones((1, 1), bool)),)))
    with pytest.raises(ArgumentError, match=r"look again with Observe\(weights=True\)"):
        record.links()


def test_labels_and_matrix_must_agree():
    said = Words("one", (Piece("one", (0, 3)),))
    seen = Observation(visible=np.ones((1, 3), bool), weights=np.ones((1, 3, 5)))
    with pytest.raises(ArgumentError, match="found 3 rows and 5 columns"):
        Record(Sight("encoder", said, said, (seen,))).links()


def test_a_record_says_what_it_is(record):
    assert repr(record) == "Record('one two three', 3 words, 2 layers of 3 heads)"
