"""Tiles that masks leave empty, full or in part: segments in any order, and boolean arrays."""

import numpy as np
import pytest

import clearhead as ch
from support.cases import Case, any_layout, same_bits
from support.observations import assert_near

SEEN = ch.Observe(top=5, entropy=True, lse=True, received=True, map=9, rows=[0, -1], weights=True)


def assert_right(case, error=5e-6):
    out, seen = case(observe=case.observe)
    exact, right = case.judge()
    np.testing.assert_allclose(out, exact, atol=error * max(1, np.abs(exact).max()))
    assert_near(seen, right, "float32")
    assert same_bits(out, case())


def call(rng, n, mask, heads=2, m=None, width=16):
    q, k, v = (
        rng.standard_normal((2, heads, length, width)).astype(np.float32)
        for length in (n, m or n, m or n)
    )
    return Case(q, k, v, {"mask": mask}, SEEN)


PACKED = np.repeat([3, 0, 7, -1, 2, 9], [50, 1, 130, 9, 64, 46])  # 300 positions


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("order", ["packed", "sorted", "woven", "twice"])
def test_segments_in_any_order(rng, order, causal):
    ids = {
        "packed": PACKED,
        "sorted": np.sort(PACKED),
        "woven": np.arange(300) % 4 - 1,
        "twice": np.concatenate([PACKED[:150], PACKED[:150]]),
    }[order]
    mask = ch.segments(ids)
    assert_right(call(rng, 300, mask & ch.causal() if causal else mask))


def test_segments_of_queries_elsewhere_than_their_keys(rng):
    keys, queries = PACKED, np.array([9] * 70 + [3] * 20 + [-1] * 3 + [5] * 4 + [7] * 40)
    assert_right(call(rng, len(queries), ch.segments(keys, queries=queries), m=300))


def test_a_packed_sequence_has_the_bits_of_one_at_the_same_place(rng):
    """What stands in the other segments, NaN even, changes no bit."""
    case = call(rng, 300, ch.segments(PACKED) & ch.causal())
    out = case()
    at = PACKED == 7
    poisoned = case.with_arrays(lambda x: np.where(at[:, None], x, np.float32(np.nan)))
    assert same_bits(poisoned()[:, :, at].copy(), out[:, :, at].copy())


@pytest.mark.parametrize(
    "shape", [(300, 300), (2, 1, 300, 300), (1, 2, 300, 300), (2, 2, 300, 300)]
)
@pytest.mark.parametrize("kind", ["blocks", "window", "random", "none", "all"])
def test_boolean_arrays_of_any_pattern_and_shape(rng, kind, shape):
    i, j = np.indices(shape[-2:])
    pattern = {
        "blocks": np.kron(rng.random((10, 10)) < 0.4, np.ones((30, 30))) > 0,
        "window": (j <= i) & (j > i - 80),
        "random": rng.random((300, 300)) < 0.3,
        "none": np.zeros((300, 300), bool),
        "all": np.ones((300, 300), bool),
    }[kind]
    may = np.broadcast_to(pattern, shape).copy()
    if len(shape) == 4:
        may[-1, -1] = np.roll(pattern, 40, axis=1)
    assert_right(call(rng, 300, any_layout(rng, may)))


@pytest.mark.parametrize("heads", [1, 3])
def test_an_array_that_all_share_and_its_copy_give_the_same_bits(rng, heads):
    may = np.kron(rng.random((4, 5)) < 0.5, np.ones((20, 40))) > 0  # (80, 200)
    case = call(rng, 80, may, heads=heads, m=200)
    dense = np.broadcast_to(may, (2, heads, 80, 200)).copy()
    whole = case(observe=SEEN)
    for same in (dense, np.asfortranarray(may), np.broadcast_to(may, dense.shape)):
        again = ch.attention(*case.arrays(), mask=same, observe=SEEN)
        assert same_bits(again[0], whole[0])
        assert same_bits(again[1], whole[1])


def test_a_band_as_an_array_is_the_band(rng):
    i, j = np.indices((200, 200))
    case = call(rng, 200, ch.window(70, 3))
    assert same_bits(case(), ch.attention(*case.arrays(), mask=(j >= i - 70) & (j <= i + 3)))


def test_a_bias_that_masks_and_one_that_does_not_share_the_pass(rng):
    bias = rng.standard_normal((2, 200, 200)).astype(np.float32)
    case = call(rng, 200, None)
    case.options["bias"] = bias
    assert_right(case)
    masking = bias.copy()
    masking[:, 66:150, 70:140] = -np.inf
    masking[:, 3] = -np.inf
    case.options["bias"] = masking
    assert_right(case)
