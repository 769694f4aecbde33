"""Faults of other software, as kinds: what a mask means, its kind and shape, and memory layout."""

import itertools

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.core import steps
from clearhead.errors import KindError, ShapeError


def flat(out):
    return np.asarray(out).reshape(-1).tolist()


def test_true_means_may_look(attention, zeros, column):
    assert attention(zeros(1), zeros(2), column(1, 3), mask=[[True, False]]).item() == 1


def test_a_float_mask_is_refused_as_mask_and_right_as_bias(attention, zeros, column):
    added = np.array([[0.0, -np.inf]])
    assert attention(zeros(1), zeros(2), column(1, 3), bias=added).item() == 1
    with pytest.raises(KindError, match="bias="):
        attention(zeros(1), zeros(2), column(1, 3), mask=added)


@pytest.mark.parametrize("kind", ["int64", "uint8", "float16", "int8"])
def test_zeros_and_ones_are_refused_and_never_added(attention, zeros, column, kind):
    with pytest.raises(KindError, match=f"found {kind} array; wanted a Mask, or booleans"):
        attention(zeros(1), zeros(2), column(1, 3), mask=np.array([[1, 0]], kind))


def test_a_mask_means_the_same_in_training_and_out_of_it(attention, rng):
    q, k, v = (torch.tensor(rng.standard_normal((2, 2, 4, 3)), requires_grad=True) for _ in "qkv")
    mask = (rng.random((2, 2, 4, 4)) < 0.6) & ch.lengths(keys=[4, 2])
    trained = attention(q, k, v, mask=mask)
    with torch.no_grad():
        plain = attention(q, k, v, mask=mask)
    torch.testing.assert_close(trained, plain, rtol=1e-12, atol=1e-12)


def layouts(base):
    """Masks of many shapes and strides, of a random one (B, H, N, M)."""
    wide = np.repeat(base, 2, axis=-1)
    return {
        "whole": base,
        "per query": base[0, 0, :, :1],
        "per query of four axes": base[:1, :1, :, :1],
        "one number": base[:1, :1, :1, :1],
        "no axis": base[0, 0, 0, 0],
        "per key": base[0, 0, :1],
        "keys alone": base[0, 0, 0],
        "per sample and key": base[:, :1, :1],
        "per head": base[:1, :, :1, :1],
        "broadcast": np.broadcast_to(base[:, :1, :, :1], base.shape),
        "every other column": wide[..., ::2],
        "transposed": np.ascontiguousarray(base.swapaxes(-1, -2)).swapaxes(-1, -2),
        "backward": np.ascontiguousarray(base[:, ::-1, ::-1, ::-1])[:, ::-1, ::-1, ::-1],
        "samples last": np.moveaxis(np.ascontiguousarray(np.moveaxis(base, 0, -1)), -1, 0),
    }


NAMES = list(layouts(np.zeros((1, 1, 1, 1), bool)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("keys", [7, 33, 65])
def test_a_mask_of_any_layout_is_its_written_out_form(attention, rng, name, keys):
    q, k, v = (rng.standard_normal((2, 3, n, 4)).astype(np.float32) for n in (5, keys, keys))
    mask = layouts(rng.random((2, 3, 5, keys)) < 0.6)[name]
    written = np.ascontiguousarray(np.broadcast_to(mask, (2, 3, 5, keys)))
    expected = attention(q, k, v, mask=written)
    assert attention(q, k, v, mask=mask).tobytes() == expected.tobytes()
    assert attention(q, k, v, mask=ch.Mask() & mask).tobytes() == expected.tobytes()
    exact = steps.attention(*(x.astype(np.float64) for x in (q, k, v)), mask=written)
    np.testing.assert_allclose(expected, exact, atol=1e-5)


@pytest.mark.parametrize("keys", [1, 31, 32, 33, 65])
@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16])
def test_broadcast_keys_give_the_contiguous_result_bit_for_bit(attention, rng, keys, kind):
    q = rng.standard_normal((1, 4, 3, 8)).astype(kind)
    base = rng.standard_normal((1, 1, keys, 8)).astype(kind)
    shared = np.broadcast_to(base, (1, 4, keys, 8))
    mask = rng.random((3, keys)) < 0.7
    copied = np.ascontiguousarray(shared)
    out = attention(q, shared, shared, mask=mask)
    assert out.tobytes() == attention(q, copied, copied, mask=mask).tobytes()


def spread(x, layout):
    """``x`` (B, H, N, D) with the same numbers in another layout of memory."""
    if layout == "plain":
        return x
    if layout == "positions before heads":
        return np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2)
    if layout == "width not innermost":
        return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    if layout == "every other number":
        room = np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan, x.dtype)
        room[..., ::2] = x
        return room[..., ::2]
    if layout == "one number in":
        room = np.full(x.size + 1, np.nan, x.dtype)
        room[1:] = x.reshape(-1)
        return room[1:].reshape(x.shape)
    if layout == "backward":
        return np.ascontiguousarray(x[:, ::-1, ::-1, ::-1])[:, ::-1, ::-1, ::-1]
    room = np.zeros(x.size * (x.itemsize + 1), np.uint8)  # not aligned
    packed = np.ndarray(x.shape, x.dtype, room[1:].data, 0)
    packed[...] = x
    return packed


LAYOUTS = [
    "plain", "positions before heads", "width not innermost", "every other number",
    "one number in", "backward", "not aligned",
]  # fmt: skip


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("mask", [None, ch.causal(align="end"), "array"], ids=str)
def test_any_layout_gives_the_contiguous_result_bit_for_bit(attention, rng, kind, mask):
    q, k, v = (rng.standard_normal((2, h, n, d)).astype(kind) for h, n, d in
               ((4, 5, 3), (2, 37, 3), (2, 37, 6)))  # fmt: skip
    if isinstance(mask, str):
        mask = rng.random((5, 37)) < 0.5
    expected = attention(q, k, v, mask=mask)
    if kind is not np.float16:
        exact = steps.attention(*(x.astype(np.float64) for x in (q, k, v)), mask=mask)
        np.testing.assert_allclose(expected, exact, atol=1e-5)
    for three in itertools.product(LAYOUTS, repeat=3):
        spreads = (spread(x, layout) for x, layout in zip((q, k, v), three, strict=True))
        out = attention(*spreads, mask=mask)
        np.testing.assert_allclose(out, expected, rtol=1e-3 if kind is np.float16 else 1e-6)
        if attention is not steps.attention:  # BLAS may sum in another order for other strides
            assert out.tobytes() == expected.tobytes(), three


def test_torch_views_give_the_contiguous_result_bit_for_bit(attention, rng):
    base = torch.tensor(rng.standard_normal((2, 9, 3, 4)), dtype=torch.float32)
    view = base.transpose(1, 2)  # (B, H, N, D) of memory (B, N, H, D)
    copied = view.contiguous()
    out = attention(view, view, view, mask=ch.causal())
    expected = attention(copied, copied, copied, mask=ch.causal())
    torch.testing.assert_close(out, expected, rtol=1e-6, atol=1e-6)
    if attention is not steps.attention:
        assert torch.equal(out, expected)


def test_a_mask_per_sample_broadcasts_over_queries(attention, zeros, column):
    mask = np.array([[True, True, False], [True, False, False]]).reshape(2, 1, 1, 3)
    v = np.concatenate([column(1, 3, 9)] * 2)
    assert flat(attention(zeros(2, batch=2), zeros(3, batch=2), v, mask=mask)) == [2, 2, 1, 1]


def test_three_axes_beside_four_are_never_guessed(attention):
    x = np.zeros((2, 2, 1, 1))
    v = np.array([1.0, 3.0]).reshape(1, 1, 2, 1) + np.zeros((2, 2, 2, 1))
    mask = np.array([[[True, False]], [[False, True]]])
    with pytest.raises(ShapeError, match=r"\(2, 1, 1, 2\) \(per sample\) or \(1, 2, 1, 2\)"):
        attention(x, np.zeros((2, 2, 2, 1)), v, mask=mask)
    by_sample = attention(x, np.zeros((2, 2, 2, 1)), v, mask=mask[:, None])
    assert flat(by_sample) == [1, 1, 3, 3]
    by_head = attention(x, np.zeros((2, 2, 2, 1)), v, mask=mask[None])
    assert flat(by_head) == [1, 3, 1, 3]


def test_a_mask_with_holes_is_no_length(attention, zeros, column):
    mask = [[True, False, True, False]]
    assert attention(zeros(1), zeros(4), column(1, 9, 3, 9), mask=mask).item() == 2


def test_padding_and_causal_together_give_hidden_keys_nothing(attention, zeros, column):
    keys = np.array([[0, 1, 1, 0, 0, 1, 0]]) != 0
    out, seen = attention(zeros(7), zeros(7), column(*range(7)), mask=ch.causal() & keys,
                          observe=ch.Observe(weights=True))  # fmt: skip
    np.testing.assert_allclose(flat(out), [0, 1, 1.5, 1.5, 1.5, 8 / 3, 8 / 3], rtol=1e-12)
    assert (seen.weights[..., ~keys[0]] == 0).all()


def test_softcap_comes_before_the_mask(attention, column):
    out = attention(np.ones((1, 1, 1, 1)), column(100, 0, 0), column(1, 0, 9), scale=1, softcap=1,
                    mask=[[True, True, False]])  # fmt: skip
    np.testing.assert_allclose(out.item(), 0.731059, atol=1e-6)


@pytest.mark.parametrize(
    "shape", [(1, 1, 5, 7), (1, 3, 1, 7), (2, 3, 5, 7), (3, 5, 7), (7,), (2, 1, 1, 1)], ids=str
)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_bias_of_any_shape_is_added_where_it_belongs(attention, rng, shape, kind):
    q, k, v = (rng.standard_normal((2, 3, n, 4)).astype(kind) for n in (5, 7, 7))
    bias = rng.standard_normal(shape).astype(kind)
    out = attention(q, k, v, bias=bias)
    scores = np.einsum("bhid,bhjd->bhij", *(x.astype(np.float64) for x in (q, k))) / 2 + bias
    p = np.exp(scores)
    expected = p / p.sum(-1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(out, expected, atol=2e-6 if kind is np.float32 else 1e-12)
    other = attention(q, k, v, bias=torch.tensor(bias))  # of the other library
    assert other.tobytes() == out.tobytes()


def test_the_order_of_the_axes_is_named_where_a_shape_does_not_fit(attention):
    """(B, N, H, D) beside (B, H, N, D): where it can be noticed, the message says the order."""
    q, k = np.zeros((1, 5, 2, 4)), np.zeros((1, 3, 2, 4))
    with pytest.raises(ShapeError, match=r"\(..., heads, positions, width\)"):
        attention(q, k, k)
