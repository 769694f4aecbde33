import copy
import pickle
from dataclasses import fields

import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.errors import ArgumentError, KindError
from support.observations import ASKED, DRAWN, HELD, everything


def test_observe_prints_what_is_asked_and_true_is_not_one():
    assert repr(ch.Observe()) == "Observe()"
    assert repr(ch.Observe(top=8, entropy=True)) == "Observe(top=8, entropy=True)"
    assert repr(ch.Observe(received=1)) == "Observe(received=1)"
    assert repr(ch.Observe(received=True)) == "Observe(received=True)"
    assert ch.Observe(received=1).received_last == 1
    assert ch.Observe(received=True).received_last is None
    assert not ch.Observe().receives


@pytest.mark.parametrize("rows", [[0, -1], (0, -1), np.array([0, -1]), torch.tensor([0, -1])])
def test_rows_are_a_list_of_queries(rows):
    assert ch.Observe(rows=rows).rows == (0, -1)
    assert ch.Observe(rows=rows).row_indices(5) == (0, 4)
    assert ch.Observe(rows=range(2)).rows == (0, 1)
    assert ch.Observe(rows=[]).row_indices(5) == ()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"top": -1}, ArgumentError),
        ({"top": True}, KindError),
        ({"top": 1.5}, KindError),
        ({"entropy": 1}, KindError),
        ({"received": 0}, ArgumentError),
        ({"received": "all"}, KindError),
        ({"map": 0}, ArgumentError),
        ({"map": True}, KindError),
        ({"rows": 3}, KindError),
        ({"rows": [0.5]}, KindError),
        ({"rows": [[0]]}, KindError),
        ({"weights": None}, KindError),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_by_name(wrong, error):
    with pytest.raises(error, match=f"^{next(iter(wrong))}: found"):
        ch.Observe(**wrong)


def test_observe_is_a_value():
    asked = ch.Observe(top=3, rows=[1])
    assert copy.deepcopy(asked) == asked == pickle.loads(pickle.dumps(asked))
    assert hash(asked) == hash(ch.Observe(top=3, rows=(1,)))
    with pytest.raises(AttributeError):
        asked.top = 4


def test_blocks_cover_the_axis():
    assert ch.Observe(map=4).blocks(10) == (3, 4)
    assert ch.Observe(map=4).blocks(3) == (1, 3)
    assert ch.Observe(map=4).blocks(0) == (0, 0)


def test_an_observation_prints_what_it_holds():
    seen = ch.Observation(visible=np.ones((1, 2, 3), bool), lse=np.zeros((1, 2, 3)))
    assert repr(seen) == "Observation(visible (1, 2, 3), lse (1, 2, 3))"
    assert seen.entropy is None


def test_all_that_can_be_observed_is_in_the_tables_of_the_tests(attention):
    assert list(ASKED) == list(DRAWN) == [f.name for f in fields(ch.Observe)]
    assert list(HELD) == [f.name for f in fields(ch.Observation)]
    x = np.zeros((1, 3, 2))
    _, seen = attention(x, x, x, observe=everything())
    assert [name for name, found in vars(seen).items() if found is None] == []
