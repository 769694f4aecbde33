"""The fused pass against the plain steps in float64: every option, every layout, every path.

``tests/native/test_isas.py`` runs this file again for each instruction set.
"""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.core import steps
from support.cases import KINDS, assert_same, draw, same_bits, wide
from support.observations import assert_near, everything, held_fields, parts

# Of the largest output; half kinds are also allowed their last rounding, half a unit in the last
# place of each number.
ERROR = {"float32": 5e-6, "float64": 1e-12, "float16": 5e-6, "bfloat16": 5e-6}
ROUNDING = {"float32": 0, "float64": 0, "float16": 2.0**-11, "bfloat16": 2.0**-8}
# Where weights are rounded to bfloat16 before they meet the values: half a unit in the last place.
WEIGHTS = 2.0**-8 if ch.machine().isa in ("avx512bf16", "amx") else 0

kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def assert_right(case, kind):
    """One call, held to float64 in all that it returns."""
    name = np.dtype(kind).name
    out, seen = case(observe=case.observe)
    exact, right = case.judge()
    allowed = ERROR[name] * np.abs(exact).max(initial=0) + ROUNDING[name] * np.abs(exact) + 2e-38
    if name == "float16":
        allowed = allowed + 2.0**-25  # below its normal range it has this step
    if name == "bfloat16" and case.key.shape[-3]:
        size = np.repeat(np.abs(wide(case.value)), case.query.shape[-3] // case.key.shape[-3], -3)
        allowed = allowed + WEIGHTS * (right.weights @ size)
    assert (np.abs(out.astype(np.float64) - exact) <= allowed).all()
    assert_near(seen, right, name)


@kinds
@pytest.mark.parametrize("seed", range(40))
def test_any_call_is_that_of_float64(seed, kind):
    assert_right(draw(seed, kind), kind)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(4))
def test_any_call_of_long_sequences_is_that_of_float64(seed, kind):
    case = draw(seed + 1000, kind, lengths=[500, 1024, 2111, 3000], widths=[32, 64, 128])
    keep = (0,) * (case.query.ndim - 3)  # one sample, one group of heads
    one = case.with_arrays(lambda x: x[keep][: x.shape[-3] // case.key.shape[-3]])
    one.options = {"scale": case.options["scale"], "mask": ch.causal(align="end")}
    one.observe = replace(case.observe, rows=[0, -1])
    assert_right(one, kind)


@pytest.mark.parametrize("scale", [2.0, -1.0, 0.0])
@pytest.mark.parametrize("width", [64, 128, 512])
def test_a_sharper_softmax_keeps_the_error_small(rng, scale, width):
    q, k, v = (rng.standard_normal((1, 300, width)).astype(np.float32) for _ in range(3))
    times = scale / np.sqrt(width)
    exact = steps.attention(*(x.astype(np.float64) for x in (q, k, v)), scale=times)
    error = np.abs(ch.attention(q, k, v, scale=times) - exact).max() / np.abs(exact).max()
    assert error <= 5e-6


@kinds
@pytest.mark.parametrize("seed", range(20))
def test_observing_and_layouts_change_no_bit(seed, kind):
    case = draw(seed + 200, kind)
    out, seen = case(observe=case.observe)
    assert same_bits(out, case())
    assert same_bits(out, case(observe=ch.Observe(top=3))[0])
    dense = case.with_arrays(np.ascontiguousarray)
    again, seen_again = dense(observe=case.observe)
    assert same_bits(out, again)
    assert same_bits(seen, seen_again)


@kinds
def test_the_rest_of_the_batch_changes_no_bit(rng, kind):
    q, k, v = (rng.standard_normal((5, 4, 90, 24)).astype(kind) for _ in range(3))
    lengths = np.array([90, 3, 0, 66, 71])
    observe = everything()
    out, seen = ch.attention(q, k, v, mask=ch.lengths(keys=lengths), observe=observe)
    for b in range(5):
        one = slice(b, b + 1)
        alone = ch.lengths(keys=lengths[one])
        out_b, seen_b = ch.attention(q[one], k[one], v[one], mask=alone, observe=observe)
        assert same_bits(out[one], out_b)
        for name, found, _ in held_fields(seen_b):
            assert same_bits(getattr(seen, name)[one], found), name


@kinds
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 140), (5, 70), (40, 66), (64, 133), (130, 131)])
def test_right_padding_changes_no_bit(rng, kind, groups, n, m):
    q = rng.standard_normal((2, 2 * groups, n, 20)).astype(kind)
    k, v = (rng.standard_normal((2, 2, m, 20)).astype(kind) for _ in range(2))
    observe = everything(received=2, rows=[0, n - 1])
    out, seen = ch.attention(q, k, v, mask=ch.causal(align="end"), observe=observe)

    def padded(x, more):
        return np.pad(x, ((0, 0), (0, 0), (0, more), (0, 0)), constant_values=np.nan)

    for more in (1, 64, 150):
        mask = ch.lengths(keys=[m, m], queries=[n, n]) & ch.causal(align="end")
        arrays = padded(q, more + 3), padded(k, more), padded(v, more)
        out_p, seen_p = ch.attention(*arrays, mask=mask, observe=observe)
        assert same_bits(out, np.ascontiguousarray(out_p[:, :, :n]))
        assert not out_p[:, :, n:].any()
        assert not seen_p.visible[:, :, n:].any()
        valid = {"N": slice(n), "M": slice(m)}
        assert_same(parts(seen, **valid), parts(seen_p, **valid))


def test_torch_and_numpy_give_the_same_bits(rng):
    arrays = [rng.standard_normal((2, 3, 50, 16)).astype(np.float32) for _ in range(3)]
    observe = everything()
    out, seen = ch.attention(*arrays, mask=ch.causal(), observe=observe)
    tensors = [torch.from_numpy(x) for x in arrays]
    out_t, seen_t = ch.attention(*tensors, mask=ch.causal(), observe=observe)
    assert isinstance(out_t, torch.Tensor)
    assert same_bits(out, out_t.numpy())
    for name, found, _ in held_fields(seen_t):
        assert isinstance(found, torch.Tensor), name
        assert same_bits(getattr(seen, name), found.numpy()), name
    half = [x.to(torch.bfloat16) for x in tensors]
    as_numpy = [x.view(torch.int16).numpy().view(ml_dtypes.bfloat16) for x in half]
    out_h = ch.attention(*half)
    assert out_h.dtype == torch.bfloat16
    assert same_bits(
        ch.attention(*as_numpy), out_h.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    )


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_kinds_err_no_more_than_torch(kind):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn((2, 4, 200, 64), generator=generator).to(kind) for _ in range(3))
    sdpa = torch.nn.functional.scaled_dot_product_attention
    exact = sdpa(q.double(), k.double(), v.double())
    ours, theirs = ch.attention(q, k, v), sdpa(q, k, v)
    error, of_torch = ((x.double() - exact).abs().max().item() for x in (ours, theirs))
    rounding = (exact.to(kind).double() - exact).abs().max().item()
    assert error <= max(rounding, 1.25 * of_torch)


def test_the_strongest_keys_of_equal_scores_are_the_first():
    zeros = np.zeros((1, 70, 4), np.float32)
    for top in (1, 8, 12, 40, 70):
        _, seen = ch.attention(zeros, zeros, zeros, observe=ch.Observe(top=top))
        assert (seen.top_keys == np.arange(top)).all()


def test_tensors_that_need_a_gradient_get_one(rng):
    q, k, v = (torch.from_numpy(rng.standard_normal((2, 3, 20, 8))) for _ in range(3))
    wanted = ch.attention(q, k, v, mask=ch.causal())
    q.requires_grad_()
    out = ch.attention(q, k, v, mask=ch.causal())
    torch.testing.assert_close(out, wanted, rtol=1e-12, atol=1e-12)
    out.sum().backward()
    assert q.grad.abs().sum() > 0
    out, seen = ch.attention(
        q, k, v, mask=ch.causal(), softcap=5.0, observe=ch.Observe(entropy=True)
    )
    assert out.requires_grad
    assert seen.entropy.requires_grad
    with torch.no_grad():
        assert not ch.attention(q, k, v).requires_grad


def test_what_cannot_fit_is_refused_before_anything_is_touched():
    far = np.broadcast_to(np.float32(0), (1, 2**31, 64))
    with pytest.raises(ch.ClearheadError, match="GiB") as refused:
        ch.attention(far, far, far, observe=ch.Observe(weights=True))
    assert isinstance(refused.value, MemoryError)


def test_observe_is_an_observe(rng):
    x = rng.standard_normal((1, 3, 4))
    with pytest.raises(TypeError, match=r"observe: found dict.*Observe\(top=8\)"):
        ch.attention(x, x, x, observe={"top": 8})


def test_many_batch_axes_are_refused_by_name(rng):
    x = rng.standard_normal((1,) * 17 + (2, 3, 4))
    with pytest.raises(ch.ClearheadError, match="too many axes") as refused:
        ch.attention(x, x, x)
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize("top", [17, 64, 65, 400])
def test_long_lists_of_strongest_keys_are_sorted(rng, top):
    q, k = (rng.standard_normal((2, 300, 8)).astype(np.float32) for _ in range(2))
    k[:, 100:200] = k[:, :100]  # ties
    observe = ch.Observe(top=top, weights=True)
    _, seen = ch.attention(q, k, k, mask=ch.causal(), observe=observe)
    order = np.argsort(-seen.weights, axis=-1, kind="stable")[..., :top]
    visible = np.tri(300, dtype=bool)
    there = np.take_along_axis(np.broadcast_to(visible, seen.weights.shape), order, -1)
    wanted = np.full(seen.top_keys.shape, -1)
    wanted[..., : order.shape[-1]] = np.where(there, order, -1)
    np.testing.assert_array_equal(seen.top_keys, wanted)
