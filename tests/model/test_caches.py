import numpy as np
import pytest
import torch

from clearhead.model.caches import Decoding, appended, choose


@pytest.fixture
def state(weights):
    state = Decoding.begun(weights, 3, 4)
    for caches in (state.keys, state.values, state.cross_keys, state.cross_values):
        for number, cache in enumerate(caches):
            cache[:] = (10 * np.arange(3) + number)[:, None, None]
    state.memory_lengths = np.array([4, 2, 3])
    return state


@pytest.mark.parametrize("library", [np.zeros, torch.zeros])
def test_a_cache_grows_where_it_is_full_and_keeps_what_it_holds(library):
    caches = [library((2, 4, 3))]
    for at in range(9):
        whole = appended(caches, 0, at, library((2, 3)) + at)
        assert whole.shape == (2, at + 1, 3)
    assert whole[0, :, 0].tolist() == list(range(9))
    assert caches[0].shape[1] == 16


def test_hypotheses_move_with_their_caches_and_sentences_leave(state, weights):
    choose(state, [2, 0], [[0, 0], [0, 0]])
    for number in range(len(weights["decoder"])):
        assert state.keys[number][:, 0, 0].tolist() == [20 + number] * 2 + [number] * 2
        assert state.cross_values[number][:, 0, 0].tolist() == [20 + number, number]
    assert state.memory_lengths.tolist() == [3, 4]
    assert state.sentences == 2
    assert state.mask is not None


def test_nothing_moves_where_all_stay(state):
    before = [*state.keys, *state.cross_keys]
    choose(state, [0, 1, 2], [[0], [0], [0]])
    assert all(a is b for a, b in zip(before, [*state.keys, *state.cross_keys], strict=True))


def test_room_is_used_again_until_more_is_needed(state):
    like = np.zeros(1, np.float32)
    first = state.room("scores", (2, 3), like)
    assert np.shares_memory(first, state.room("scores", (3, 2), like))
    assert not np.shares_memory(first, state.room("scores", (4, 4), like))
    assert not np.shares_memory(first, state.room("caches", (2, 3), like))
