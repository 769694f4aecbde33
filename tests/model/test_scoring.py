"""Forced decoding: many pairs at once give what each gives alone."""

import pytest
import torch

from clearhead.model import scoring
from clearhead.model.scoring import log_probabilities
from clearhead.model.tree import map_tree
from support.models import small_translator

SOURCES = [[20, 21, 22, 1], [30, 1], [20, 21, 22, 1], [20, 21, 22, 23, 1], [30, 1]]
TARGETS = [[2, 40, 41, 1], [2, 42, 1], [2, 43, 1], [2, 40, 41, 1], [2, 44, 45, 1]]


@pytest.fixture(scope="module")
def model():
    translator = small_translator()
    return translator.weights, translator.config


def together(weights, config):
    return log_probabilities(weights, config, SOURCES, TARGETS, pad=0)


def flat(rows):
    return [number for row in rows for number in row]


def test_a_batch_gives_what_each_pair_gives_alone(model):
    found = together(*model)
    assert [len(row) for row in found] == [3, 2, 2, 3, 3]
    for source, target, row in zip(SOURCES, TARGETS, found, strict=True):
        (alone,) = log_probabilities(*model, [source], [target], pad=0)
        assert row == pytest.approx(alone, abs=1e-4)


def test_a_source_of_several_translations_is_read_once(model, monkeypatch):
    read = []

    def encode(weights, config, ids, lengths):
        read.extend(map(tuple, ids))
        return original(weights, config, ids, lengths)

    original = scoring.encode
    monkeypatch.setattr(scoring, "encode", encode)
    together(*model)
    assert len(read) == len(set(read)) == 3


def test_tensors_give_the_same(model):
    weights, config = model
    tensors = map_tree(torch.from_numpy, weights)
    assert flat(together(tensors, config)) == pytest.approx(flat(together(*model)), abs=1e-4)
