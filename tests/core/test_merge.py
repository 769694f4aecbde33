import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import clearhead as ch
from clearhead.core import steps
from clearhead.errors import KindError, ShapeError


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 9), st.integers(1, 4), st.integers(0, 2**31), st.booleans(), st.booleans())
def test_parts_of_the_keys_join_to_the_whole(cut, queries, seed, masked, as_torch):
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((2, 2, queries, 3)) * 4
    k, v = rng.standard_normal((2, 2, 9, 3)) * 4, rng.standard_normal((2, 2, 9, 5))
    may = rng.random((2, 1, queries, 9)) < (0.3 if masked else 1.1)
    if as_torch:
        q, k, v, may = (torch.tensor(x) for x in (q, k, v, may))
    ask = ch.Observe(lse=True)
    whole, seen = steps.attention(q, k, v, mask=may, observe=ask)
    parts = []
    for part in (slice(0, cut), slice(cut, 9)):
        out, one = steps.attention(
            q, k[..., part, :], v[..., part, :], mask=may[..., part], observe=ask
        )
        parts += [out, one.lse]
    out, lse = ch.merge(*parts)
    assert type(out) is type(whole)
    np.testing.assert_allclose(np.asarray(out), np.asarray(whole), atol=1e-12)
    np.testing.assert_allclose(np.asarray(lse), np.asarray(seen.lse), atol=1e-12)


def test_a_part_that_saw_nothing_leaves_the_other_bit_for_bit(rng):
    out = rng.standard_normal((1, 2, 3, 4)).astype(np.float32)
    lse = rng.standard_normal((1, 2, 3)).astype(np.float32)
    nothing, never = np.zeros_like(out), np.full_like(lse, -math.inf)
    for merged in (ch.merge(out, lse, nothing, never), ch.merge(nothing, never, out, lse)):
        assert merged[0].tobytes() == out.tobytes()
        assert merged[1].tobytes() == lse.tobytes()


def test_a_query_that_saw_nothing_anywhere_stays_zero():
    out, lse = ch.merge(*[np.zeros((1, 2)), np.array([-math.inf])] * 2)
    assert out.tolist() == [[0, 0]]
    assert lse.tolist() == [-math.inf]


def test_nan_of_a_part_without_a_share_stays_out():
    out, _ = ch.merge(
        np.array([[1.0]]), np.array([0.0]), np.array([[math.nan]]), np.array([-math.inf])
    )
    assert out.tolist() == [[1]]


def test_large_and_far_apart_lse_do_not_overflow():
    out, lse = ch.merge(np.array([[1.0]]), np.array([1e4]), np.array([[3.0]]), np.array([-1e4]))
    assert out.tolist() == [[1]]
    assert lse.tolist() == [1e4]


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float32])
def test_half_kinds_keep_their_kind(kind):
    out = torch.ones(2, 3, dtype=kind)
    merged, lse = ch.merge(out, torch.zeros(2), 3 * out, torch.zeros(2))
    assert merged.dtype == kind
    assert merged.tolist() == [[2] * 3] * 2
    assert lse.dtype == torch.float32


def test_gradients_flow_through_and_not_through_dead_rows():
    out_a, out_b = (torch.rand(2, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    lse_a = torch.tensor([0.5, -math.inf], dtype=torch.float64, requires_grad=True)
    lse_b = torch.tensor([0.0, -math.inf], dtype=torch.float64, requires_grad=True)
    out, lse = ch.merge(out_a, lse_a, out_b, lse_b)
    (out.sum() + lse[:1].sum()).backward()
    for leaf in (out_a, out_b, lse_a, lse_b):
        assert torch.isfinite(leaf.grad).all()
        assert (leaf.grad[1] == 0).all()


def test_what_does_not_fit_is_refused():
    out, lse = np.zeros((2, 3)), np.zeros(2)
    with pytest.raises(ShapeError, match="the same queries"):
        ch.merge(out, lse, out[:1], lse[:1])
    with pytest.raises(ShapeError, match=r"\(2, 3\), \(2, 3\)"):
        ch.merge(out, out, out, out)
    with pytest.raises(KindError, match="out_b numpy float32"):
        ch.merge(out, lse, out.astype(np.float32), lse)
    with pytest.raises(KindError, match="lse_b torch float64"):
        ch.merge(out, lse, out, torch.tensor(lse))
    with pytest.raises(KindError, match="lse_a: found list"):
        ch.merge(out, [0.0, 0.0], out, lse)
