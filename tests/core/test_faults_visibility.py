"""Faults of other software, as kinds: queries that see nothing, NaN and infinity that travel."""

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.core import steps
from support.observations import everything

KINDS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]


@pytest.fixture(params=[False, True], ids=["without gradient", "with gradient"])
def grad(request):
    return request.param


def leaves(rng, *shapes, grad=True):
    return [torch.tensor(rng.standard_normal(shape), requires_grad=grad) for shape in shapes]


def test_a_dead_head_ruins_neither_outputs_nor_gradients(attention, rng):
    """Every key hidden from one head of three."""
    q, k, v = leaves(rng, *[(1, 3, 4, 3)] * 3)
    may = np.ones((1, 3, 4, 4), bool)
    may[:, 2] = False
    out = attention(q, k, v, mask=may)
    assert (out[:, 2] == 0).all()
    out.sum().backward()
    for leaf in (q, k, v):
        assert torch.isfinite(leaf.grad).all()
        assert (leaf.grad[:, 2] == 0).all()


def test_asking_for_weights_of_a_dead_head_changes_nothing(attention, rng):
    q, k, v = (rng.standard_normal((1, 3, 4, 3)) for _ in range(3))
    may = np.ones((1, 3, 4, 4), bool)
    may[:, 2] = False
    out = attention(q, k, v, mask=may)
    same, seen = attention(q, k, v, mask=may, observe=ch.Observe(weights=True))
    assert out.tobytes() == same.tobytes()
    assert (seen.weights[:, 2] == 0).all()
    assert np.isfinite(seen.weights).all()


def test_a_finite_bias_however_low_is_only_a_bias(attention, zeros, column):
    v = column(1, 2, 3, 6, kind=np.float32)
    q, k = zeros(1, kind=np.float32), zeros(4, kind=np.float32)
    low = np.full((1, 4), np.finfo(np.float32).min)
    assert attention(q, k, v, bias=low).item() == 3
    out, seen = attention(q, k, v, bias=np.full((1, 4), -np.inf, np.float32),
                          observe=ch.Observe(weights=True))  # fmt: skip
    assert out.item() == 0
    assert not seen.visible.any()
    assert (seen.weights == 0).all()


def test_padding_gives_the_same_with_and_without_gradients(attention, rng):
    """A band of 4 with the last 12 of 16 tokens padded: nine queries see nothing."""
    mask = ch.window(2, 1) & ch.lengths(keys=4)
    q, k, v = leaves(rng, *[(1, 2, 16, 4)] * 3)
    with torch.no_grad():
        plain = attention(q, k, v, mask=mask)
    out = attention(q, k, v, mask=mask)
    assert out.requires_grad
    torch.testing.assert_close(out, plain, rtol=1e-12, atol=1e-12)
    assert torch.isfinite(out).all()
    assert (out[:, :, 7:] == 0).all()


def test_masks_combine_as_conditions_and_nothing_overflows(attention, zeros, column):
    v = column(1, 2, 3, 6, kind=np.float32)
    q, k = zeros(1, kind=np.float32), zeros(4, kind=np.float32)
    low = np.full((1, 4), np.finfo(np.float32).min)
    with np.errstate(over="ignore"):
        twice = low + low  # −inf
    with np.errstate(all="raise"):
        assert attention(q, k, v, bias=twice).item() == 0
        mask = ch.lengths(keys=2) & ch.causal(offset=0) & np.array([[True, False, True, True]])
        assert attention(q, k, v, mask=mask).item() == 1


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: np.dtype(kind).name)
def test_masks_raise_no_floating_point_errors_in_any_kind(attention, rng, kind):
    q, k, v = (rng.standard_normal((1, 2, 5, 4)).astype(kind) for _ in range(3))
    with np.errstate(all="raise"):
        out = attention(q, k, v, mask=ch.causal() & ch.lengths(keys=3, queries=4))
    exact = [x.astype(np.float64) for x in (q, k, v)]
    expected = steps.attention(*exact, mask=ch.causal() & ch.lengths(keys=3, queries=4))
    tolerance = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3}.get(np.dtype(kind).name, 1e-2)
    np.testing.assert_allclose(out.astype(np.float64), expected, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["key", "value", "both"])
@pytest.mark.parametrize(
    "mask",
    [np.array([[True, True, False]]), ch.lengths(keys=2), ch.segments([0, 0, 1], [0])],
    ids=str,
)
def test_poison_behind_a_mask_stays_there(attention, zeros, column, poison, where, mask):
    k, v = zeros(3), column(1, 3, 5)
    for array in {"key": [k], "value": [v], "both": [k, v]}[where]:
        array[0, 0, 2] = poison
    observe = everything(top=3, map=2, rows=[0])
    out, seen = attention(zeros(1), k, v, mask=mask, observe=observe)
    assert out.item() == 2
    assert seen.top_keys.tolist() == [[[[0, 1, -1]]]]
    np.testing.assert_allclose(seen.entropy.item(), np.log(2), atol=1e-12)
    np.testing.assert_allclose(seen.lse.item(), np.log(2), atol=1e-12)
    np.testing.assert_allclose(seen.received, [[[0.5, 0.5, 0]]], atol=1e-12)
    assert seen.rows.tolist() == [[[[0.5, 0.5, 0]]]]


def test_poison_in_a_query_that_sees_nothing_stays_there(attention, zeros, column):
    q = zeros(2)
    q[0, 0, 1] = np.nan
    out, seen = attention(q, zeros(2), column(1, 3), mask=ch.lengths(queries=1),
                          observe=ch.Observe(received=True, entropy=True, lse=True))  # fmt: skip
    assert out.reshape(-1).tolist() == [2, 0]
    assert seen.received.tolist() == [[[0.5, 0.5]]]
    assert seen.entropy[0, 0, 1] == 0
    assert seen.lse[0, 0, 1] == -np.inf


@pytest.mark.parametrize("size", [3, 40, 130])
def test_poison_that_some_see_ruins_those_alone(attention, rng, size):
    q, k, v = (rng.standard_normal((1, 1, size, 4)).astype(np.float32) for _ in range(3))
    clean = attention(q, k, v, mask=ch.causal())
    k[0, 0, size // 2] = v[0, 0, size // 2] = np.nan
    out = attention(q, k, v, mask=ch.causal())
    before = (0, 0, slice(0, size // 2))
    np.testing.assert_allclose(out[before], clean[before], rtol=0, atol=1e-6)
    assert np.isnan(out[0, 0, size // 2 :]).all()


def test_poison_behind_a_mask_has_no_gradient(attention):
    q = torch.zeros(1, 1, 1, 1, dtype=torch.float64, requires_grad=True)
    k = torch.tensor([0, 0, np.nan]).double().reshape(1, 1, 3, 1).requires_grad_()
    v = torch.tensor([1, 3, np.nan]).double().reshape(1, 1, 3, 1).requires_grad_()
    out = attention(q, k, v, mask=[[True, True, False]])
    out.sum().backward()
    assert out.item() == 2
    assert v.grad.flatten().tolist() == [0.5, 0.5, 0]
    assert torch.isfinite(k.grad).all()
    assert k.grad[0, 0, 2].item() == 0
    assert torch.isfinite(q.grad).all()


def test_poison_that_others_see_does_not_reach_a_gradient_that_does_not(attention, rng):
    """Query 0 does not hear of key 1, not even in its gradient."""
    q, k, v = leaves(rng, *[(1, 1, 2, 3)] * 3)
    with torch.no_grad():
        k[0, 0, 1] = v[0, 0, 1] = np.nan
    attention(q, k, v, mask=ch.causal())[0, 0, 0].sum().backward()
    assert torch.isfinite(q.grad[0, 0, 0]).all()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: np.dtype(kind).name)
def test_nan_in_a_live_query_is_not_hidden(attention, kind):
    q = np.full((1, 1, 16, 8), np.nan, kind)
    k = np.ones((1, 1, 16, 8), kind)
    assert np.isnan(attention(q, k, k).astype(np.float32)).all()
    out = attention(q, k, k, mask=ch.lengths(keys=3)).astype(np.float32)
    assert np.isnan(out).all()


def test_a_sample_that_is_all_padding_is_zero_with_and_without_gradients(attention, rng, grad):
    q, k, v = leaves(rng, *[(2, 2, 3, 4)] * 3, grad=grad)
    out = attention(q, k, v, mask=ch.lengths(keys=[3, 0]))
    assert (out[1] == 0).all()
    alone = attention(q[:1], k[:1], v[:1])
    torch.testing.assert_close(out[:1], alone, rtol=1e-12, atol=1e-12)


def test_reported_weights_of_left_padding_are_zero_and_flagged(attention, zeros):
    x = zeros(5)
    mask = ch.causal() & np.array([[False, False, True, True, True]])
    _, seen = attention(x, x, x, mask=mask, observe=ch.Observe(weights=True, top=1))
    assert (seen.weights[0, 0, :2] == 0).all()
    assert seen.visible[0, 0].tolist() == [False, False, True, True, True]
    assert seen.top_keys[0, 0, :2].tolist() == [[-1], [-1]]
