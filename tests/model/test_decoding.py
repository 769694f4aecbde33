"""Decoding with caches against the full pass, and caches that move with their hypotheses."""

import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.errors import ArgumentError
from clearhead.model.caches import choose
from clearhead.model.decoding import start, step
from clearhead.model.translation import decode, encode
from clearhead.model.tree import map_tree

LENGTHS = np.array([7, 3, 5])


@pytest.fixture
def source(rng, config):
    return rng.integers(0, config.vocabulary, (3, 7))


def test_step_by_step_equals_the_full_pass_beyond_the_first_room(weights, config, source, rng):
    target = rng.integers(0, config.vocabulary, (3, 40))
    memory = encode(weights, config, source, LENGTHS)
    wanted = decode(weights, config, target, memory, LENGTHS)
    state = start(weights, config, memory, LENGTHS)
    found = [step(weights, config, target[:, i : i + 1], state) for i in range(40)]
    np.testing.assert_allclose(np.concatenate(found, axis=1), wanted, atol=2e-5)
    assert state.position == 40


def test_torch_decodes_with_the_same_lines(weights, config, source, rng):
    target = rng.integers(0, config.vocabulary, (3, 4))
    memory = encode(weights, config, source, LENGTHS)
    wanted = decode(weights, config, target, memory, LENGTHS)
    t = map_tree(torch.from_numpy, weights)
    state = start(t, config, torch.from_numpy(memory), torch.from_numpy(LENGTHS))
    ids = torch.from_numpy(target)
    for i in range(4):
        found = step(t, config, ids[:, i : i + 1], state)
        np.testing.assert_allclose(found[:, 0].numpy(), wanted[:, i], atol=2e-5)
    choose(state, [2, 0], [[0, 0], [0, 0]])
    assert step(t, config, ids[:2, :2], state).shape == (2, 2, config.width)


def test_caches_are_reordered_with_the_beams(weights, config, source, rng):
    """Beams swap, some sentences leave early, and each hypothesis goes on from its own history."""
    memory = encode(weights, config, source, LENGTHS)
    state = start(weights, config, memory, LENGTHS)
    left = np.arange(3)
    histories = [[[2]], [[2]], [[2]]]
    for number in range(20):
        fed = np.array([[h[-1] for h in of] for of in histories])
        hidden = step(weights, config, fed, state)
        for row, of in enumerate(histories):
            sentence = left[row]
            alone = encode(weights, config, source[sentence][None, : LENGTHS[sentence]])
            for k, history in enumerate(of):
                wanted = decode(weights, config, np.array([history]), alone)[0, -1]
                np.testing.assert_allclose(hidden[row, k], wanted, atol=2e-5)
        kept = np.array([0, 2]) if number == 5 else np.arange(len(left))
        parents = rng.integers(0, fed.shape[1], (len(kept), 4))
        choose(state, kept, parents)
        left = left[kept]
        histories = [
            [[*histories[i][p], int(rng.integers(0, config.vocabulary))] for p in parents[row]]
            for row, i in enumerate(kept)
        ]


def test_attention_of_a_hypothesis_is_its_own_after_beams_swapped(weights, config, source, rng):
    """What a step observes equals what reading the same text as a whole observes."""
    memory = encode(weights, config, source[:1])
    state = start(weights, config, memory)
    observe = ch.Observe(weights=True)
    histories = [[2]]
    for _ in range(6):
        fed = np.array([[h[-1] for h in histories]])
        _, back, across = step(weights, config, fed, state, observe)
        for k, history in enumerate(histories):
            whole = decode(weights, config, np.array([history]), memory, None, observe)
            for layer in range(config.decoder_layers):
                np.testing.assert_allclose(
                    across[layer].weights[0, :, k], whole[2][layer].weights[0, :, -1], atol=1e-5
                )
                np.testing.assert_allclose(
                    back[layer].weights[k, :, 0], whole[1][layer].weights[0, :, -1], atol=1e-5
                )
        parents = rng.permutation(4) % len(histories)
        choose(state, [0], parents[None])
        histories = [[*histories[p], int(rng.integers(0, config.vocabulary))] for p in parents]


def test_observing_a_step_changes_no_bit(weights, config, source):
    memory = encode(weights, config, source, LENGTHS)
    fed = np.full((3, 1), 2)
    plain = step(weights, config, fed, start(weights, config, memory, LENGTHS))
    state = start(weights, config, memory, LENGTHS)
    found, _, _ = step(weights, config, fed, state, ch.Observe(top=2, entropy=True))
    np.testing.assert_array_equal(found, plain)


def test_right_padding_of_the_source_moves_no_position(weights, config, source):
    memory = encode(weights, config, source[:, :3])
    wide = encode(weights, config, source, np.array([3, 3, 3]))
    fed = np.full((3, 1), 2)
    wanted = step(weights, config, fed, start(weights, config, memory))
    found = step(weights, config, fed, start(weights, config, wide, np.array([3, 3, 3])))
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_another_number_of_hypotheses_than_the_state_holds_is_refused(weights, config, source):
    state = start(weights, config, encode(weights, config, source))
    with pytest.raises(ArgumentError, match="holds 3 hypotheses of 3 sentences: bring it along"):
        step(weights, config, np.zeros((3, 2), np.int64), state)
