"""Keys that may be looked at are listed whatever their score: NaN and −inf come last, by index.

``tests/native/test_isas.py`` runs this file again for each instruction set.
"""

import numpy as np
import pytest

import clearhead as ch
from clearhead.core import steps

LISTS = [1, 2, 8, 12, 40, 100]  # registers, memory and heaps; beyond the keys


def looked(attention, top, q, k, **options):
    """(keys, weights, all the weights) of one head."""
    observe = ch.Observe(top=top, weights=True)
    _, seen = attention(q, k, k, observe=observe, **options)
    return seen.top_keys[0], seen.top_weights[0], seen.weights[0]


def check(keys, weights, whole, may):
    """Each list holds min(top, visible) visible keys once each, with their weights, then −1."""
    for i, allowed in enumerate(may):
        count = min(keys.shape[1], allowed.sum())
        listed = keys[i, :count]
        assert (listed >= 0).all()
        assert allowed[listed].all()
        assert len(set(listed.tolist())) == count
        np.testing.assert_array_equal(weights[i, :count], whole[i, listed])
        assert (keys[i, count:] == -1).all()
        assert (weights[i, count:] == 0).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("top", LISTS)
@pytest.mark.parametrize("masked", ["no", "causal", "allowed", "bias", "segments"])
def test_a_query_that_is_nan_lists_the_keys_it_may_look_at(attention, rng, kind, top, masked):
    q = rng.standard_normal((1, 90, 8)).astype(kind)
    k = rng.standard_normal((1, 90, 8)).astype(kind)
    broken = [1, 70, 89]
    q[0, broken] = np.nan
    may, options = np.ones((90, 90), bool), {}
    if masked == "causal":
        may, options = np.tri(90, dtype=bool), {"mask": ch.causal()}
    elif masked == "allowed":
        may = rng.random((90, 90)) < 0.3
        options = {"mask": may}
    elif masked == "bias":
        may = rng.random((90, 90)) < 0.3
        options = {"bias": np.where(may, 0, -np.inf).astype(kind)}
    elif masked == "segments":
        ids = np.repeat(np.arange(9), 10)
        may, options = ids[:, None] == ids, {"mask": ch.segments(ids)}
    keys, weights, whole = looked(attention, top, q, k, **options)
    check(keys, weights, whole, may)
    for i in broken:
        expected = np.flatnonzero(may[i])[:top]
        assert keys[i, : len(expected)].tolist() == expected.tolist()
        assert np.isnan(weights[i, : len(expected)]).all()


@pytest.mark.parametrize("top", LISTS)
@pytest.mark.parametrize("number", [np.nan, -np.inf])
def test_a_key_whose_score_is_nan_or_minus_infinity_is_listed_last(attention, rng, top, number):
    q, k = np.ones((1, 3, 1), np.float32), rng.random((1, 20, 1)).astype(np.float32)
    k[0, [4, 9]] = number
    may = np.ones((3, 20), bool)
    may[1, [4, 6]] = may[2, [4, 9]] = False
    observe = ch.Observe(top=top, weights=True)
    _, seen = attention(q, k, np.zeros_like(k), mask=may, observe=observe)
    keys, weights = seen.top_keys[0], seen.top_weights[0]
    check(keys, weights, seen.weights[0], may)
    for i, last in ((0, [4, 9]), (1, [9]), (2, [])):
        order = [j for j in np.argsort(-k[0, :, 0], kind="stable") if may[i, j] and j not in last]
        assert keys[i][keys[i] >= 0].tolist() == (order + last)[:top]
        assert np.isnan(weights[i][keys[i] >= 0]).all() == (np.isnan(number) and bool(last))


def test_the_judge_and_the_fused_pass_list_the_same_beside_nan(rng):
    q, k = rng.standard_normal((2, 2, 66, 4)), rng.standard_normal((2, 2, 66, 4))
    q[0, 0, 5], k[1, 1, 60] = np.nan, np.nan
    options = {
        "mask": ch.window(20, 3) & ch.lengths(keys=[66, 61], queries=[66, 40]),
        "observe": ch.Observe(top=10),
    }
    one, other = steps.attention(q, k, k, **options)[1], ch.attention(q, k, k, **options)[1]
    np.testing.assert_array_equal(other.top_keys, one.top_keys)
    np.testing.assert_allclose(other.top_weights, one.top_weights, atol=1e-14)
