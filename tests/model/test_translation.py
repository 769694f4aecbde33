"""The encoder–decoder: padding, torch, and what observation may not change."""

import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.model.fresh import random_weights, weight_shapes
from clearhead.model.translation import (
    decode,
    encode,
    encode_states,
    logits,
)
from clearhead.model.tree import flatten, map_tree


@pytest.fixture
def ids(rng, config):
    return rng.integers(0, config.vocabulary, (3, 7))


LENGTHS = np.array([7, 3, 5])


def test_padding_by_lengths_changes_nothing_that_counts(weights, config, ids):
    memory = encode(weights, config, ids, LENGTHS)
    for row, length in enumerate(LENGTHS):
        alone = encode(weights, config, ids[row : row + 1, :length])
        np.testing.assert_allclose(memory[row, :length], alone[0], atol=1e-5)


def test_what_stands_in_the_padding_is_never_seen(weights, config, ids, rng):
    other = ids.copy()
    for row, length in enumerate(LENGTHS):
        other[row, length:] = rng.integers(0, config.vocabulary, 7 - length)
    for row, length in enumerate(LENGTHS):
        a, b = encode(weights, config, ids, LENGTHS), encode(weights, config, other, LENGTHS)
        np.testing.assert_array_equal(a[row, :length], b[row, :length])


def test_a_target_position_sees_nothing_later(weights, config, ids, rng):
    memory = encode(weights, config, ids, LENGTHS)
    target = rng.integers(0, config.vocabulary, (3, 6))
    changed = target.copy()
    changed[:, 4:] = 0
    a = decode(weights, config, target, memory, LENGTHS)
    b = decode(weights, config, changed, memory, LENGTHS)
    np.testing.assert_allclose(a[:, :4], b[:, :4], atol=1e-6)
    assert np.abs(a[:, 4:] - b[:, 4:]).max() > 1e-3


def test_torch_runs_the_same_lines(weights, config, ids, rng):
    target = rng.integers(0, config.vocabulary, (3, 6))
    wanted = logits(weights, decode(weights, config, target, encode(weights, config, ids), None))
    t = map_tree(torch.from_numpy, weights)
    memory = encode(t, config, torch.from_numpy(ids))
    found = logits(t, decode(t, config, torch.from_numpy(target), memory))
    np.testing.assert_allclose(found.numpy(), wanted, atol=2e-5)


def test_observing_changes_no_bit_and_says_something_of_every_layer(weights, config, ids, rng):
    target = rng.integers(0, config.vocabulary, (3, 6))
    observe = ch.Observe(top=3, weights=True)
    memory, seen = encode(weights, config, ids, LENGTHS, observe)
    np.testing.assert_array_equal(memory, encode(weights, config, ids, LENGTHS))
    assert [s.weights.shape for s in seen] == [(3, 4, 7, 7)] * 2
    hidden, back, across = decode(weights, config, target, memory, LENGTHS, observe)
    np.testing.assert_array_equal(hidden, decode(weights, config, target, memory, LENGTHS))
    assert [s.weights.shape for s in back] == [(3, 4, 6, 6)] * 2
    assert [s.weights.shape for s in across] == [(3, 4, 6, 7)] * 2
    np.testing.assert_allclose(across[0].weights[1, :, :, 3:], 0)


def test_encoder_states_end_in_the_memory(weights, config, ids):
    states = encode_states(weights, config, ids, LENGTHS)
    assert len(states) == config.encoder_layers + 1
    np.testing.assert_array_equal(states[-1], encode(weights, config, ids, LENGTHS))


def test_a_sentence_with_no_piece_that_counts_spoils_no_other(weights, config, ids):
    lengths = np.array([7, 0, 5])
    memory = encode(weights, config, ids, lengths)
    assert np.isfinite(memory).all()
    hidden = decode(weights, config, ids[:, :3], memory, lengths)
    assert np.isfinite(hidden).all()
    alone = decode(weights, config, ids[:1, :3], encode(weights, config, ids[:1]))
    np.testing.assert_allclose(hidden[0], alone[0], atol=1e-5)


def test_fresh_weights_have_the_shapes_that_files_are_checked_for(config):
    fresh = flatten(random_weights(config))
    assert {name: leaf.shape for name, leaf in fresh.items()} == weight_shapes(config)
    assert {leaf.dtype for leaf in fresh.values()} == {np.dtype(np.float32)}
    assert not fresh["encoder.0.attention.w_o"].any()


def test_training_may_drop_what_enters_and_what_every_sub_layer_adds(weights, config, ids):
    calls = []

    def drop(x):
        calls.append(x.shape)
        return x * 0

    states = encode_states(weights, config, ids, LENGTHS, drop=drop)
    assert len(calls) == 1 + 2 * config.encoder_layers
    assert not np.any(states[-1])  # nothing is left that was not handed to drop
    decode(weights, config, ids, states[-1], LENGTHS, drop=drop)
    assert len(calls) == 2 + 2 * config.encoder_layers + 3 * config.decoder_layers
