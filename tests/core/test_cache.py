import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import clearhead as ch
from clearhead.core import steps
from clearhead.errors import ArgumentError, CacheError, KindError, MemoryLimitError, ShapeError
from clearhead.inputs.masks import resolve


def test_the_example_of_two_samples():
    """Append 5 with lengths [5, 3], then 2 with lengths [2, 1]."""
    cache = ch.KVCache(batch=2, kv_heads=1, capacity=8, d_k=1, d_v=1, dtype="float64")
    x = np.arange(20.0).reshape(2, 1, 10, 1)
    cache.append(x[:, :, :5], x[:, :, :5], lengths=[5, 3])
    cache.append(x[:, :, 5:7], x[:, :, 5:7], lengths=[2, 1])
    assert cache.lengths.tolist() == [7, 4]
    assert cache.keys[0, 0, :7, 0].tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert cache.keys[1, 0, :5, 0].tolist() == [10, 11, 12, 15, 0]
    may = resolve(cache.mask(), (2,), 1, 2, 8).dense(2, 8)[:, 0].astype(int)
    assert may[0].tolist() == [[1] * 6 + [0] * 2, [1] * 7 + [0]]
    assert may[1].tolist() == [[1] * 4 + [0] * 4, [0] * 8]
    assert repr(cache.mask()) == "lengths(keys=[7, 4], queries=[2, 1]) & causal(align='end')"


@pytest.mark.parametrize(
    "dtype", ["float32", np.float16, ml_dtypes.bfloat16, "bfloat16", torch.float64, torch.bfloat16]
)
def test_storage_is_of_the_library_and_kind_asked_for(dtype):
    cache = ch.KVCache(1, 2, 4, 3, 5, dtype)
    is_torch = isinstance(dtype, torch.dtype)
    assert isinstance(cache.keys, torch.Tensor if is_torch else np.ndarray)
    assert tuple(cache.keys.shape) == (1, 2, 4, 3)
    assert tuple(cache.values.shape) == (1, 2, 4, 5)
    assert isinstance(cache.lengths, torch.Tensor if is_torch else np.ndarray)
    if is_torch:
        assert cache.keys.dtype == cache.values.dtype == dtype


def test_past_the_capacity_nothing_is_written():
    cache = ch.KVCache(2, 1, 4, 1, 1, "float32")
    ones = np.ones((2, 1, 3, 1), np.float32)
    cache.append(ones, ones, lengths=[3, 1])
    before = cache.keys.copy(), cache.values.copy(), repr(cache.mask())
    with pytest.raises(CacheError, match=r"found 3 positions in sample 0 and 2 more; .* of 4"):
        cache.append(ones * 7, ones * 7, lengths=[2, 3])
    assert (cache.keys == before[0]).all()
    assert (cache.values == before[1]).all()
    assert cache.lengths.tolist() == [3, 1]
    assert repr(cache.mask()) == before[2]


FINE = np.ones((2, 1, 3, 1), np.float32)


@pytest.mark.parametrize(
    ("k", "v", "lengths", "error"),
    [
        (FINE.astype(float), FINE, None, KindError),
        (FINE, torch.ones(2, 1, 3, 1), None, KindError),
        (np.ones((2, 1, 3, 2), np.float32), FINE, None, ShapeError),
        (FINE[0], FINE[0], None, ShapeError),
        (FINE, FINE[:, :, :2], None, ShapeError),
        (FINE, FINE, [4, 0], ArgumentError),
        (FINE, FINE, [-1, 0], ArgumentError),
        (FINE, FINE, [1], ShapeError),
        (FINE, FINE, [1.0, 1.0], KindError),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(k, v, lengths, error):
    cache = ch.KVCache(2, 1, 8, 1, 1, "float32")
    with pytest.raises(error):
        cache.append(k, v, lengths)
    assert not cache.keys.any()
    assert not cache.values.any()
    assert cache.lengths.tolist() == [0, 0]


def test_sizes_are_whole_and_fit_in_memory():
    with pytest.raises(ArgumentError, match="capacity: found -1"):
        ch.KVCache(1, 1, -1, 1, 1, "float32")
    with pytest.raises(KindError, match="dtype: found int64"):
        ch.KVCache(1, 1, 1, 1, 1, "int64")
    with pytest.raises(KindError, match="dtype: found"):
        ch.KVCache(1, 1, 1, 1, 1, torch.int32)
    with pytest.raises(KindError, match="dtype: found None"):
        ch.KVCache(1, 1, 1, 1, 1, None)
    with pytest.raises(MemoryLimitError, match="cache: found a request"):
        ch.KVCache(10**6, 64, 10**6, 128, 128, "float32")


def test_what_is_appended_leaves_its_gradient_behind():
    cache = ch.KVCache(1, 1, 4, 1, 1, torch.float32)
    k = torch.ones(1, 1, 2, 1, requires_grad=True)
    cache.append(k, k)
    assert not cache.keys.requires_grad
    assert cache.keys.flatten().tolist() == [1, 1, 0, 0]


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 3), st.booleans(), st.integers(0, 2**31))
def test_decoding_in_chunks_equals_the_full_pass(data, batch, as_torch, seed):
    rng = np.random.default_rng(seed)
    chunks = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    counts = [[data.draw(st.integers(0, chunk)) for _ in range(batch)] for chunk in chunks]
    cache = ch.KVCache(batch, 2, 24, 3, 3, torch.float64 if as_torch else "float64")
    untouched = np.full((batch, 2, 24, 3), 7.0)
    cache.keys[:] = cache.values[:] = torch.tensor(untouched) if as_torch else untouched
    rows = [[] for _ in range(batch)]  # (q, k, v, out) of each valid position
    for chunk, count in zip(chunks, counts, strict=True):
        q, k, v = (rng.standard_normal((batch, h, chunk, 3)) for h in (4, 2, 2))
        new = [torch.tensor(x) for x in (q, k, v)] if as_torch else [q, k, v]
        cache.append(new[1], new[2], lengths=count)
        out = np.asarray(steps.attention(new[0], cache.keys, cache.values, mask=cache.mask()))
        for b in range(batch):
            assert (out[b, :, count[b] :] == 0).all()
            rows[b] += [(q[b, :, t], k[b, :, t], v[b, :, t], out[b, :, t]) for t in range(count[b])]
    for b in range(batch):
        assert cache.lengths[b] == len(rows[b])
        assert (np.asarray(cache.keys)[b, :, len(rows[b]) :] == 7).all()
        if rows[b]:
            q, k, v, out = (np.stack(x, axis=1) for x in zip(*rows[b], strict=True))
            whole = steps.attention(q, k, v, mask=ch.causal())
            np.testing.assert_allclose(out, whole, atol=1e-12)


def test_samples_of_one_length_and_of_several_are_written_alike(rng):
    steps = [(2, None), (1, [1, 1]), (2, [2, 1]), (1, None), (2, [0, 1]), (1, None), (0, None)]
    x = rng.standard_normal((2, 1, 9, 3)).astype(np.float32)
    at = ch.KVCache(2, 1, 9, 3, 3, "float32")
    apart = [ch.KVCache(1, 1, 9, 3, 3, "float32") for _ in range(2)]
    begin = 0
    for count, lengths in steps:
        new = x[:, :, begin : begin + count]
        at.append(new, -new, lengths=lengths)
        for b, one in enumerate(apart):
            mine = count if lengths is None else lengths[b]
            one.append(new[b : b + 1], -new[b : b + 1], lengths=mine)
        begin += count
        assert at.lengths.tolist() == [int(one.lengths[0]) for one in apart]
        assert at.mask() == at.mask()
    for b, one in enumerate(apart):
        assert (at.keys[b] == one.keys[0]).all()
        assert (at.values[b] == one.values[0]).all()


def test_what_is_kept_has_no_gradient():
    for learned in ("key", "value"):
        cache = ch.KVCache(1, 1, 4, 3, 3, torch.float32)
        key, value = (
            torch.ones(1, 1, 1, 3, requires_grad=name == learned) for name in ("key", "value")
        )
        cache.append(key, value)
        assert not cache.keys.requires_grad
        assert not cache.values.requires_grad


def test_caches_of_one_length_share_their_mask():
    caches = [ch.KVCache(2, 1, 4, 1, 1, "float32") for _ in range(2)]
    ones = np.ones((2, 1, 2, 1), np.float32)
    for cache in caches:
        cache.append(ones, ones, lengths=[2, 1])
    assert caches[0].mask() is caches[1].mask()
    before = caches[0].mask()
    caches[0].append(ones, ones, lengths=1)
    assert caches[0].mask() != before
    assert caches[1].mask() == before


@pytest.mark.parametrize("spoil", [lambda x: x.to("meta"), lambda x: x.to_sparse()])
@pytest.mark.parametrize("spoilt", [0, 1])
def test_tensors_without_numbers_to_copy_are_refused_and_nothing_is_written(spoil, spoilt):
    cache = ch.KVCache(1, 1, 4, 2, 2, torch.float32)
    given = [torch.ones(1, 1, 1, 2), torch.ones(1, 1, 1, 2)]
    given[spoilt] = spoil(given[spoilt])
    with pytest.raises(KindError, match="wanted a dense one"):
        cache.append(*given)
    assert cache.lengths.tolist() == [0]
    assert not cache.keys.any()
    assert not cache.values.any()


def test_masked_arrays_are_refused_whatever_was_appended_before():
    cache = ch.KVCache(1, 1, 4, 2, 2, np.float32)
    x = np.ones((1, 1, 1, 2), np.float32)
    cache.append(x, x)
    with pytest.raises(KindError, match="MaskedArray"):
        cache.append(x, np.ma.masked_array(x))
    assert cache.lengths.tolist() == [1]
