"""A few queries against many keys: parts of the keys, each read once, joined from first to last.

``tests/native/test_isas.py`` runs this file again for each instruction set.
"""

from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from support.cases import KINDS, Case, any_layout, same_bits, wide
from support.observations import assert_near

PART = 1056  # keys of one part, as native/kernels/table.h cuts them; of more than 16, two make one
LENGTHS = [1, 31, 32, 65, 66, PART - 1, PART, PART + 1, 2 * PART, 2500, 3333]
SEEN = ch.Observe(top=8, entropy=True, lse=True, received=True, rows=[0, -1], weights=True)
ERROR = {"float32": 5e-6, "float64": 1e-12, "float16": 2.0**-10, "bfloat16": 2.0**-7}
# Where weights are rounded to bfloat16 before they meet the values: half a unit in the last place.
WEIGHTS = 2.0**-8 if ch.machine().isa == "avx512bf16" else 0

kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def draw(seed, kind, keys, queries=None):
    """A thin call: up to 8 rows of queries share their keys."""
    rng = np.random.default_rng(seed)
    queries = queries or int(rng.integers(1, 4))
    group = int(rng.integers(1, 8 // queries + 1))
    width, wide = (int(rng.choice([1, 16, 33, 64, 80, 128])) for _ in range(2))

    def normal(*shape):
        return any_layout(rng, rng.standard_normal((2, *shape)).astype(kind))

    arrays = normal(2 * group, queries, width), normal(2, keys, width), normal(2, keys, wide)
    return Case(*arrays, {"mask": ch.causal(align="end")}, SEEN)


def assert_right(case, kind):
    name = np.dtype(kind).name
    out, seen = case(observe=case.observe)
    exact, right = case.judge()
    allowed = ERROR[name] * (np.abs(exact) + np.abs(exact).max() / 8) + 2.0**-25
    if name == "bfloat16":
        group = case.query.shape[-3] // case.key.shape[-3]
        size = np.repeat(np.abs(wide(case.value)), group, -3)
        allowed = allowed + WEIGHTS * (right.weights @ size)
    assert (np.abs(out.astype(np.float64) - exact) <= allowed).all()
    assert_near(seen, right, name)
    assert same_bits(out, case())


@kinds
@pytest.mark.parametrize("keys", LENGTHS)
def test_any_number_of_parts_is_float64(keys, kind):
    assert_right(draw(keys, kind, keys), kind)


def test_parts_of_a_long_cache_are_twice_as_long():
    assert_right(draw(3, np.float32, 16 * PART + 40, queries=1), np.float32)


@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    "options",
    [
        {"mask": ch.window(700, 0, align="end")},
        {"mask": ch.lengths(keys=[2500, 1]) & ch.causal(align="end")},
        {"mask": ch.segments(np.arange(2600) // 1300, queries=np.array([1]))},
        {"mask": ch.segments(np.arange(2600) % 3, queries=np.array([2]))},
        {"mask": np.random.default_rng(1).random((1, 1, 1, 2600)) < 0.01},
        {"mask": np.arange(2600) % 2000 == 7, "sinks": [0.5, -1.0, 2.0, 0.0]},
        {"mask": np.zeros((1, 2600), bool), "sinks": [0.5, -1.0, 2.0, 0.0]},
        {"bias": ch.alibi([0.5, 0.1, 0.01, 1.0], align="end"), "softcap": 20.0},
        {"bias": np.where(np.arange(2600) < 1200, -np.inf, 0.25).astype(np.float32)},
    ],
    ids=lambda options: ",".join(options),
)
def test_every_option_holds_over_parts(rng, options, kind):
    q, k, v = (
        rng.standard_normal((2, h, n, 64)).astype(kind) for h, n in ((4, 1), (2, 2600), (2, 2600))
    )
    assert_right(Case(q, k, v, options, SEEN), kind)


@pytest.mark.parametrize("top", [1, 8, 9, 40, 100, 3000])
def test_lists_of_all_parts_are_one_list(rng, top):
    """Of equal scores the smaller index comes first, across parts too."""
    key = rng.integers(-3, 4, (1, 1, 2600, 2)).astype(np.float32)
    query = np.ones((1, 4, 1, 2), np.float32)
    seen = ch.attention(query, key, key, observe=ch.Observe(top=top))[1]
    order = np.argsort(-key.sum(-1).reshape(-1), kind="stable")[:top]
    found = seen.top_keys[..., : len(order)].reshape(4, -1)
    assert (found == order).all()
    assert (seen.top_keys[..., len(order) :] == -1).all()


@kinds
def test_padding_batch_and_threads_change_no_bit(kind):
    case = draw(5, kind, 2600, queries=2)
    lengths = [1500, 2600]
    mask = ch.lengths(keys=lengths) & ch.causal(align="end")
    together = ch.attention(*case.arrays(), mask=mask, observe=SEEN)
    before = ch.machine().threads
    try:
        ch.set_threads(1 if before > 1 else 3)
        again = ch.attention(*case.arrays(), mask=mask, observe=SEEN)
    finally:
        ch.set_threads(before)
    assert same_bits(together[0], again[0])
    assert same_bits(together[1], again[1])
    for b, length in enumerate(lengths):
        q, k, v = (x[b : b + 1] for x in case.arrays())
        alone = ch.attention(q, k[:, :, :length], v[:, :, :length], mask=ch.causal(align="end"))
        assert same_bits(alone, together[0][b : b + 1])


def test_queries_that_are_padding_leave_the_others_as_they_are(rng):
    """One valid query among 70: the bits of a call with that query alone, and nothing seen else."""
    q, k, v = (
        rng.standard_normal((1, h, n, 32)).astype(np.float32)
        for h, n in ((4, 70), (2, 2000), (2, 2000))
    )
    mask = ch.lengths(queries=[1], keys=[1990])
    out, seen = ch.attention(q, k, v, mask=mask, observe=SEEN)
    alone, of_it = ch.attention(
        q[:, :, :1],
        k[:, :, :1990],
        v[:, :, :1990],
        observe=ch.Observe(top=8, entropy=True, lse=True),
    )
    assert same_bits(out[:, :, :1].copy(), alone)
    assert same_bits(seen.top_keys[:, :, :1].copy(), of_it.top_keys)
    assert same_bits(seen.lse[:, :, :1].copy(), of_it.lse)
    assert (out[:, :, 1:] == 0).all()
    assert not seen.visible[:, :, 1:].any()
    assert (seen.top_keys[:, :, 1:] == -1).all()
    assert np.isneginf(seen.lse[:, :, 1:]).all()


def test_hidden_numbers_reach_nothing(rng):
    k, v = (rng.standard_normal((1, 2, 2600, 16)).astype(np.float32) for _ in range(2))
    q = rng.standard_normal((1, 4, 1, 16)).astype(np.float32)
    right = ch.attention(q, k[:, :, 30:2500], v[:, :, 30:2500])
    for poison in (np.nan, np.inf):
        k[:, :, :30] = k[:, :, 2500:] = v[:, :, :30] = v[:, :, 2500:] = poison
        may = np.arange(2600)
        found = ch.attention(q, k, v, mask=((may >= 30) & (may < 2500))[None])
        np.testing.assert_allclose(found, right, atol=2e-6)
    v[0, 1, 1100] = np.nan
    found = ch.attention(q, k, v, mask=((may >= 30) & (may < 2500))[None])
    assert np.isfinite(found[:, :2]).all()
    assert np.isnan(found[:, 2:]).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_step_through_a_long_cache_is_the_call_on_plain_arrays(rng, dtype):
    """And what was never appended is not read: the storage beyond is NaN."""
    kind = getattr(torch, dtype)
    cache = ch.KVCache(2, 2, 2400, 64, 64, kind)
    cache.keys[:] = cache.values[:] = torch.nan
    k, v = (torch.randn(2, 2, 2300, 64).to(kind) for _ in range(2))
    cache.append(k[:, :, :2299], v[:, :, :2299], lengths=[2299, 1055])
    cache.append(k[:, :, 2299:], v[:, :, 2299:])
    q = torch.randn(2, 8, 1, 64).to(kind)
    observe = ch.Observe(top=4, entropy=True)
    out, seen = ch.attention(q, cache.keys, cache.values, mask=cache.mask(), observe=observe)
    assert torch.equal(out, ch.attention(q, cache.keys, cache.values, mask=cache.mask()))
    for b, n in enumerate(cache.lengths.tolist()):
        keys, values = cache.keys[b : b + 1, :, :n], cache.values[b : b + 1, :, :n]
        alone, of_it = ch.attention(q[b : b + 1], keys, values, observe=observe)
        assert torch.equal(out[b : b + 1], alone)
        assert torch.equal(seen.entropy[b : b + 1], of_it.entropy)
        assert torch.equal(seen.top_keys[b : b + 1], of_it.top_keys)


def test_heads_of_a_group_read_as_one(rng):
    """Grouped heads against their keys repeated: the same to rounding, whatever the rows."""
    k, v = (rng.standard_normal((1, 2, 1500, 32)).astype(np.float32) for _ in range(2))
    for group, queries in [(1, 1), (3, 1), (4, 2), (8, 1), (9, 1), (5, 3)]:
        q = rng.standard_normal((1, 2 * group, queries, 32)).astype(np.float32)
        many = [np.repeat(x, group, axis=1) for x in (k, v)]
        np.testing.assert_allclose(
            ch.attention(q, k, v), ch.attention(q, *many), atol=2e-6, err_msg=f"{group, queries}"
        )


def test_a_growing_cache_is_right_at_every_border_of_parts(rng):
    q = rng.standard_normal((1, 1, 1, 8))
    k, v = rng.standard_normal((2, 1, 1, 2 * PART + 3, 8))
    for before, keys in pairwise([PART - 2, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 1]):
        s = np.exp((k[0, 0, :keys] @ q[0, 0, 0]) / np.sqrt(8))
        found = ch.attention(q, k[:, :, :keys], v[:, :, :keys])
        np.testing.assert_allclose(found[0, 0, 0], s @ v[0, 0, :keys] / s.sum(), atol=1e-13)
        assert keys > before
