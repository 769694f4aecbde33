"""Faults of other software, as kinds: half precision, and heads that share their keys."""

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.core import steps
from clearhead.errors import ShapeError


def normal(rng, *shapes, kind):
    return [rng.standard_normal(shape).astype(kind) for shape in shapes]


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_scores_beyond_the_range_of_half_precision(attention, name):
    """q · k is 102,400 before the scale; float16 ends at 65,504."""
    kind = ml_dtypes.bfloat16 if name == "bfloat16" else np.float16
    q = np.full((1, 1, 1, 64), 40, kind)
    k = np.stack([np.full(64, 40, kind), np.full(64, 39, kind)])[None, None]
    v = np.array([1, 0], kind).reshape(1, 1, 2, 1)
    assert attention(q, k, v).item() == 1


def test_a_block_mask_is_separate_calls_to_one_rounding(attention, rng):
    q, k, v = normal(rng, *[(1, 2, 32, 16)] * 3, kind=ml_dtypes.bfloat16)
    out = attention(q, k, v, mask=ch.segments(np.arange(32) // 8)).astype(np.float32)
    for block in range(4):
        part = slice(8 * block, 8 * block + 8)
        alone = attention(*(x[:, :, part] for x in (q, k, v))).astype(np.float32)
        np.testing.assert_allclose(out[:, :, part], alone, rtol=2**-7, atol=2**-9)


def test_half_precision_is_the_rounding_of_the_float64_result(attention, rng):
    q, k, v = normal(rng, *[(1, 2, 64, 128)] * 3, kind=ml_dtypes.bfloat16)
    exact = steps.attention(*(x.astype(np.float64) for x in (q, k, v)))
    out = attention(q, k, v).astype(np.float64)
    rounding = np.abs(exact.astype(ml_dtypes.bfloat16).astype(np.float64) - exact).max()
    weights_too = attention is ch.attention and ch.machine().isa in ("avx512bf16", "amx")
    assert np.abs(out - exact).max() <= (1.5 if weights_too else 1.05) * rounding


def test_key_heads_are_repeated_and_not_tiled(attention):
    q, k = np.zeros((1, 4, 1, 1)), np.zeros((1, 2, 1, 1))
    v = np.array([10.0, 20.0]).reshape(1, 2, 1, 1)
    assert attention(q, k, v).reshape(-1).tolist() == [10, 10, 20, 20]


@pytest.mark.parametrize(("heads", "kv_heads"), [(3, 2), (2, 4), (1, 2)])
def test_heads_that_do_not_divide_are_refused_with_both_numbers(attention, heads, kv_heads):
    q, k = np.zeros((1, heads, 1, 1)), np.zeros((1, kv_heads, 1, 1))
    with pytest.raises(ShapeError, match=f"found {heads} and {kv_heads}"):
        attention(q, k, k)


def test_a_shared_key_head_gets_the_gradients_of_its_whole_group(attention, rng):
    q = torch.tensor(rng.standard_normal((1, 4, 3, 2)))
    k, v = (torch.tensor(rng.standard_normal((1, 1, 5, 2)), requires_grad=True) for _ in "kv")
    assert torch.autograd.gradcheck(lambda k, v: attention(q, k, v), (k, v))
    _, seen = attention(q, k, v, observe=ch.Observe(weights=True))
    assert tuple(seen.weights.shape) == (1, 4, 3, 5)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_request_that_cannot_fit_is_refused_before_anything_is_touched(library):
    """Inputs that take no memory of their own, for an output of 16 TiB and for weights of 4 TiB."""
    one = np.zeros((1, 1, 1, 64), np.float32)
    wide = np.broadcast_to(one, (1, 1, 2**36, 64))
    tall = np.broadcast_to(one, (1, 1, 2**20, 64))
    if library == "torch":
        one = torch.zeros(1, 1, 1, 64)
        wide, tall = one.expand(1, 1, 2**36, 64), one.expand(1, 1, 2**20, 64)
    with pytest.raises(MemoryError, match="GiB"):
        ch.attention(wide, one, one)
    with pytest.raises(MemoryError, match="GiB"):
        ch.attention(tall, tall, tall, observe=ch.Observe(weights=True))
