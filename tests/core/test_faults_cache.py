"""Faults of other software, as kinds: caches, packed sequences and per-head masks."""

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.errors import KindError


@pytest.mark.parametrize("chunks", [(5, 1, 2, 3), (1,) * 11, (11,)], ids=str)
def test_prefill_and_chunks_through_a_cache_are_the_full_pass(attention, rng, chunks):
    """Two samples of other lengths; the second ends early in each chunk."""
    q, k, v = (rng.standard_normal((2, h, 11, 4)).astype(np.float32) for h in (4, 2, 2))
    cache = ch.KVCache(2, 2, 20, 4, 4, "float32")
    cache.keys[:] = cache.values[:] = 7
    taken = np.zeros(2, int)
    found = [[], []]
    for chunk in chunks:
        counts = np.array([chunk, max(0, chunk - 1)])
        new = [np.zeros((2, x.shape[1], chunk, 4), np.float32) for x in (q, k, v)]
        for b in range(2):
            for x, part in zip((q, k, v), new, strict=True):
                part[b, :, : counts[b]] = x[b, :, taken[b] : taken[b] + counts[b]]
                part[b, :, counts[b] :] = np.nan  # padding
        cache.append(new[1], new[2], lengths=counts)
        out = attention(new[0], cache.keys, cache.values, mask=cache.mask())
        for b in range(2):
            found[b].append(out[b, :, : counts[b]])
            assert (out[b, :, counts[b] :] == 0).all()
        taken += counts
    for b in range(2):
        n = taken[b]
        assert (cache.keys[b, :, n:] == 7).all()
        assert (cache.values[b, :, n:] == 7).all()
        whole = attention(q[b, :, :n], k[b, :, :n], v[b, :, :n], mask=ch.causal())
        np.testing.assert_allclose(np.concatenate(found[b], axis=1), whole, atol=2e-6)


def test_a_longer_cache_gives_the_same_bits(attention, rng):
    q, k, v = (rng.standard_normal((1, 2, n, 8)).astype(np.float32) for n in (1, 40, 40))
    out = []
    for capacity in (40, 41, 64, 300):
        cache = ch.KVCache(1, 2, capacity, 8, 8, "float32")
        cache.keys[:] = cache.values[:] = np.nan
        cache.append(k, v)
        out.append(attention(q, cache.keys, cache.values, mask=ch.lengths(keys=cache.lengths)))
    for other in out[1:]:
        np.testing.assert_allclose(other, out[0], atol=1e-6)
        if attention is ch.attention:
            assert other.tobytes() == out[0].tobytes()


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16, torch.float16, torch.bfloat16])
def test_a_cache_keeps_its_kind_and_refuses_others_by_name(attention, kind):
    cache = ch.KVCache(1, 1, 4, 8, 8, kind)
    if isinstance(kind, torch.dtype):
        k, other = torch.ones(1, 1, 2, 8, dtype=kind), torch.ones(1, 1, 2, 8)
    else:
        k, other = np.ones((1, 1, 2, 8), kind), np.ones((1, 1, 2, 8), np.float32)
    cache.append(k, k)
    assert cache.keys.dtype == k.dtype
    out = attention(k, cache.keys, cache.values, mask=cache.mask())
    assert out.dtype == k.dtype
    assert (out == 1).all()
    with pytest.raises(KindError, match=r"^v: found .*float32; wanted .*float16, the kind of the"):
        cache.append(k, other)


def test_packed_sequences_do_not_see_each_other(attention, zeros, column):
    x, v = zeros(5), column(0, 1, 2, 3, 4)
    mask = ch.segments([0, 0, 1, 1, 1]) & ch.causal()
    out = attention(x, x, v, mask=mask)
    assert out.reshape(-1).tolist() == [0, 0.5, 2, 2.5, 3]


def test_packing_holds_beside_an_all_true_mask_and_in_a_cache(attention, zeros, column):
    v = column(0, 1, 2, 3, 4)
    mask = ch.segments([0, 0, 1, 1, 1]) & ch.causal() & np.ones((1, 1, 1, 5), bool)
    assert attention(zeros(5), zeros(5), v, mask=mask).reshape(-1).tolist() == [0, 0.5, 2, 2.5, 3]
    step = ch.segments([0, 0, 1, 1, 1], queries=[1]) & ch.causal(align="end")
    assert attention(zeros(1), zeros(5), v, mask=step).item() == 3


def test_a_mask_per_head_is_applied_to_that_head(attention, rng):
    x = rng.standard_normal((2, 3, 4, 5))
    heads = np.array([True, False, True]).reshape(1, 3, 1, 1)
    out = attention(x, x, x, mask=heads)
    assert (out[:, 1] == 0).all()
    np.testing.assert_allclose(out[:, ::2], attention(x, x, x)[:, ::2], atol=1e-12)
