"""Faults of other software, as kinds: packed sequences, padding on either side, shared storage."""

import numpy as np
import pytest
import torch

import clearhead as ch


def normal(rng, *shapes):
    return [rng.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize("all_true", [False, True])
@pytest.mark.parametrize("cached", [False, True])
def test_packed_sequences_stay_apart_with_and_without_a_mask_and_a_cache(
    attention, zeros, column, cached, all_true
):
    """Lengths 2 and 3 in one row: what leaks gives [0, .5, 1, 1.5, 2]."""
    mask = ch.segments([0, 0, 1, 1, 1]) & ch.causal()
    keys, values = zeros(5), column(0, 1, 2, 3, 4)
    if cached:
        cache = ch.KVCache(1, 1, 5, 1, 1, "float64")
        cache.append(keys[:, :, :2], values[:, :, :2])
        cache.append(keys[:, :, 2:], values[:, :, 2:])
        keys, values = cache.keys, cache.values
        mask = mask & ch.lengths(keys=cache.lengths)
    if all_true:
        mask = mask & np.ones((1, 1, 1, 5), bool)
    out = attention(zeros(5), keys, values, mask=mask)
    assert out.reshape(-1).tolist() == [0, 0.5, 2, 2.5, 3]


def test_packed_sequences_of_one_or_no_query_with_grouped_heads(attention, rng):
    """Queries [1, 0, 1] and keys [3, 0, 5] in one row, 9 heads over 3: each as if alone."""
    q, k, v = normal(rng, (1, 9, 2, 4), (1, 3, 8, 4), (1, 3, 8, 4))
    out = attention(q, k, v, mask=ch.segments([0, 0, 0, 2, 2, 2, 2, 2], queries=[0, 2]))
    for query, keys in ((0, slice(0, 3)), (1, slice(3, 8))):
        alone = attention(q[:, :, [query]], k[:, :, keys], v[:, :, keys])
        np.testing.assert_allclose(out[:, :, [query]], alone, atol=1e-12)


def test_a_packed_sequence_without_queries_gets_a_gradient_of_zero(attention, rng):
    """Queries [0, 4], keys [6, 4], D = 256: keys that nobody may look at, finite or not."""
    q, k, v = (torch.tensor(x) for x in normal(rng, *[(1, 1, n, 256) for n in (4, 10, 10)]))
    k[:, :, :6] = v[:, :, :6] = torch.nan
    q, k, v = (x.requires_grad_() for x in (q, k, v))
    out = attention(q, k, v, mask=ch.segments([0] * 6 + [1] * 4, queries=[1] * 4))
    for leaf in (q, k, v):
        leaf.grad = torch.zeros_like(leaf)
    out.sum().backward()
    for leaf in (k, v):
        assert (leaf.grad[:, :, :6] == 0).all()
        assert (leaf.grad[:, :, 6:] != 0).any()
    assert torch.isfinite(q.grad).all()


def test_one_packed_sequence_keeps_the_axes_of_two(attention, zeros, column):
    for ids in ([0, 0, 0], [0, 0, 1]):
        out, seen = attention(
            zeros(3), zeros(3), column(1, 2, 3), mask=ch.segments(ids), observe=ch.Observe(top=1)
        )
        assert out.shape == (1, 1, 3, 1)
        assert seen.top_keys.shape == (1, 1, 3, 1)


def test_what_fills_the_padding_of_a_packed_row_changes_nothing(attention, rng):
    ids = np.array([0, 0, 1, 1, 1, -1, -1])
    q, k, v = normal(rng, *[(1, 2, 7, 4)] * 3)
    mask = ch.segments(ids) & ch.causal()
    clean = attention(q, k, v, mask=mask)
    assert (clean[:, :, 5:] == 0).all()
    for filler in (1e300, np.nan, -np.inf):
        for x in (q, k, v):
            x[:, :, 5:] = filler
        np.testing.assert_array_equal(attention(q, k, v, mask=mask), clean)


@pytest.mark.parametrize("left", [1, 2, 3])
def test_padding_on_the_left_shifts_nothing(attention, rng, left):
    """Causal, with what is taken off by distance: the prompt behind padding is the prompt alone."""
    q, k, v = normal(rng, *[(1, 4, 6, 8)] * 3)
    slopes = ch.alibi([0.5, 0.25, 0.125, 0.0625])
    alone = attention(q, k, v, mask=ch.causal(), bias=slopes)
    arrays = [
        np.pad(x, ((0, 0), (0, 0), (left, 0), (0, 0)), constant_values=np.nan) for x in (q, k, v)
    ]
    real = np.arange(6 + left) >= left
    as_array = ch.causal() & real[None, None, None]
    as_segments = ch.causal() & ch.segments(np.where(real, 0, -1))
    for mask in (as_array, as_segments):
        out, seen = attention(*arrays, mask=mask, bias=slopes, observe=ch.Observe(weights=True))
        np.testing.assert_allclose(out[:, :, left:], alone, atol=1e-12)
        assert (out[:, :, :left] == 0).all()
        assert (seen.weights[..., :left] == 0).all()
        assert not seen.visible[:, :, :left].any()


def test_a_prompt_padded_on_the_left_goes_on_in_chunks(attention, rng):
    """Prefill 3, then 2 at once: the second sample has 2 positions of padding before its prompt."""
    q, k, v = normal(rng, *[(2, 2, 5, 4)] * 3)
    k[1, :, :2] = v[1, :, :2] = np.nan
    real = np.arange(8) >= np.array([0, 2])[:, None]  # (2, capacity)
    cache = ch.KVCache(2, 2, 8, 4, 4, "float64")
    found = []
    for now in (slice(0, 3), slice(3, 5)):
        cache.append(k[:, :, now], v[:, :, now])
        mask = cache.mask() & real[:, None, None]
        found.append(attention(q[:, :, now], cache.keys, cache.values, mask=mask))
    out = np.concatenate(found, axis=2)
    for b, start in enumerate((0, 2)):
        alone = attention(q[b, :, start:], k[b, :, start:], v[b, :, start:], mask=ch.causal())
        np.testing.assert_allclose(out[b, :, start:], alone, atol=1e-12)
    assert (out[1, :, :2] == 0).all()


def test_a_second_batch_beside_the_first_in_one_cache_moves_nothing(attention, rng):
    """Two samples are written, then two others in the rows behind them, then all go on by one."""
    q, k, v = normal(rng, *[(4, 2, 6, 4)] * 3)
    cache = ch.KVCache(4, 2, 9, 4, 4, "float64")
    cache.keys[:] = cache.values[:] = 7
    cache.append(k[:, :, :5], v[:, :, :5], lengths=[5, 3, 0, 0])
    first = cache.keys[:2].copy(), cache.values[:2].copy()
    cache.append(k[:, :, :5], v[:, :, :5], lengths=[0, 0, 4, 1])
    assert (cache.keys[:2] == first[0]).all()
    assert (cache.values[:2] == first[1]).all()
    lengths = np.array([5, 3, 4, 1])
    assert cache.lengths.tolist() == lengths.tolist()
    at = lengths[:, None, None, None]
    step = [np.take_along_axis(x, at, axis=2) for x in (q, k, v)]  # (4, 2, 1, 4)
    cache.append(step[1], step[2])
    out = attention(step[0], cache.keys, cache.values, mask=cache.mask())
    for b, n in enumerate(lengths + 1):
        whole = attention(q[b, :, :n], k[b, :, :n], v[b, :, :n], mask=ch.causal())
        np.testing.assert_allclose(out[b, :, 0], whole[:, -1], atol=1e-12)
        assert (cache.keys[b, :, n:] == 7).all()
        assert (cache.values[b, :, n:] == 7).all()
