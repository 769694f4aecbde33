"""Tensors that need a gradient: values and gradients of the plain steps, through torch's own."""

import pytest
import torch
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx

import clearhead as ch
from clearhead.core import steps, torch_bridge
from clearhead.errors import MemoryLimitError
from clearhead.inputs.call import read


def leaves(generator, *shapes):
    return [
        torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()
        for shape in shapes
    ]


def test_torch_is_needed_where_a_gradient_is_wanted():
    plain, leaf = torch.zeros(1, 1, 1), torch.zeros(1, 1, 1, requires_grad=True)

    def needed(*three, **options):
        return torch_bridge.needs_torch(read(plain, plain, plain, **options), *three)

    assert not needed(plain, plain, plain)
    assert needed(plain, plain, leaf)
    with torch.no_grad():
        assert not needed(leaf, leaf, leaf, bias=leaf)
    assert needed(plain.to("meta"), plain, plain)
    for options in ({"bias": leaf}, {"sinks": leaf[0, 0]}, {"bias": ch.alibi(leaf[0, 0])}):
        assert needed(plain, plain, plain, **options)


@pytest.mark.parametrize("options", [
    {"softcap": 1.0}, {"sinks": torch.zeros(1)}, {"bias": torch.zeros(1, 1)},
    {"bias": ch.alibi([1.0])}, {"observe": ch.Observe(top=1)}, {"mask": ch.causal()},
], ids=str)  # fmt: skip
def test_scores_that_cannot_fit_are_refused_before_anything_is_touched(options):
    x = torch.zeros(1, requires_grad=True).expand(1, 1, 4_000_000, 1)
    with pytest.raises(MemoryLimitError, match="attention with a gradient: found a request of"):
        ch.attention(x, x, x, **options)


MASKS = {
    "none": None,
    "causal": ch.causal(align="end"),
    "padding": ch.lengths(keys=[5, 0]),
    "padding of both": ch.lengths(keys=[5, 3], queries=[2, 4]) & ch.causal(align="end"),
    "array": torch.arange(4)[:, None] >= torch.arange(6) - 1,
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
def test_values_and_gradients_are_those_of_the_plain_steps(mask, long, monkeypatch):
    if long:  # the path for long sequences, on short ones
        monkeypatch.setattr(torch_bridge, "_SHORT", 0)
    generator = torch.Generator().manual_seed(0)
    three = leaves(generator, (2, 4, 4, 3), (2, 2, 6, 3), (2, 2, 6, 5))
    weight = torch.randn(2, 4, 4, 5, dtype=torch.float64, generator=generator)
    found = []
    for attention in (ch.attention, steps.attention):
        out = attention(*three, mask=mask)
        found.append((out, *torch.autograd.grad((out * weight).sum(), three)))
    for ours, judge in zip(*found, strict=True):
        torch.testing.assert_close(ours, judge, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mask", [None, ch.lengths(keys=2)], ids=repr)
def test_scores_beyond_float16_do_not_overflow(mask):
    q = torch.full((1, 1, 1, 64), 40, dtype=torch.float16, requires_grad=True)
    k = torch.stack([torch.full((64,), n) for n in (40.0, 39.0, 0.0)]).half()[None, None]
    v = torch.tensor([1.0, 0.0, 0.0]).half().reshape(1, 1, 3, 1)
    out = ch.attention(q, k, v, mask=mask)
    assert out.item() == 1
    out.sum().backward()
    assert torch.isfinite(q.grad).all()


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_hidden_value_stays_hidden_however_low_the_scores(kind, long, monkeypatch):
    """A number in the place of −inf would win against scores that are lower still."""
    if long:
        monkeypatch.setattr(torch_bridge, "_SHORT", 0)
    size = 300.0 if kind == torch.float16 else torch.finfo(kind).max ** 0.5 * 0.999
    q, k = (torch.full((1, 1, 2, 1), n, dtype=kind) for n in (size, -size))
    v = torch.tensor([1.0, 13.0], dtype=kind).reshape(1, 1, 2, 1)
    three = [x.requires_grad_() for x in (q, k, v)]
    out = ch.attention(*three, mask=ch.causal())
    assert out.flatten().tolist() == [1, 7]
    for found in torch.autograd.grad(out.sum(), three):
        assert torch.isfinite(found).all()


@pytest.mark.parametrize("attention", [ch.attention, steps.attention], ids=["ours", "judge"])
def test_a_score_that_overflows_is_nan_and_no_hidden_value(attention):
    q = torch.full((1, 1, 2, 1), 1e30, requires_grad=True)
    v = torch.tensor([1.0, 13.0]).reshape(1, 1, 2, 1)
    assert torch.isnan(attention(q, -q, v, mask=ch.causal())).all()


def test_autocast_lets_products_round():
    """Training asks for speed; elsewhere half kinds are as exact as torch (below)."""
    q, k, v = (torch.randn(1, 2, 9, 32).bfloat16().requires_grad_() for _ in "qkv")
    hidden = torch.ones(9, 9).triu(1).bool()
    rounded = (q @ k.mT * 0.25).masked_fill(hidden, -torch.inf).softmax(-1) @ v
    with torch.autocast("cpu", torch.bfloat16):
        found = ch.attention(q, k, v, mask=ch.causal(), scale=0.25)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, rounded, rtol=0, atol=0)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_kinds_are_as_exact_as_torch(kind):
    q, k, v = (torch.randn(2, 4, 40, 32).to(kind) for _ in "qkv")
    exact = steps.attention(*(x.double() for x in (q, k, v)))
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    ours = ch.attention(q.clone().requires_grad_(), k, v).detach()
    error, allowed = ((x.double() - exact).abs().max() for x in (ours, theirs))
    assert error <= 1.25 * allowed


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32])
def test_the_kind_stays(kind):
    x = torch.randn(1, 2, 5, 4, dtype=kind, requires_grad=True)
    out = ch.attention(x, x, x, mask=ch.causal())
    assert out.dtype == kind
    out.sum().backward()
    assert x.grad.dtype == kind


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"mask": ch.causal()}, {"softcap": 3.0}])
def test_a_trace_computes_what_was_traced(options):
    """The native module leaves nothing in a trace but the making of its output."""
    torch.manual_seed(0)
    tensors, others = ([torch.randn(1, 2, 5, 4) for _ in range(3)] for _ in range(2))
    ch.attention(*tensors)
    traced = torch.jit.trace(lambda *x: ch.attention(*x, **options), tuple(tensors))
    torch.testing.assert_close(traced(*others), ch.attention(*others, **options))


def test_a_graph_computes_what_was_written_down():
    """With a mask torch refuses: whether inputs are finite is asked of their numbers."""
    torch.manual_seed(0)
    tensors, others = ([torch.randn(1, 2, 5, 4) for _ in range(3)] for _ in range(2))
    graph = make_fx(lambda *x: ch.attention(*x))(*tensors)
    torch.testing.assert_close(graph(*others), ch.attention(*others))
    with pytest.raises(RuntimeError, match="value out of a tracing tensor"):
        make_fx(lambda *x: ch.attention(*x, mask=ch.causal()))(*tensors)


@pytest.mark.filterwarnings("ignore:`torch.jit.script`")
@pytest.mark.parametrize("length", [5, 150])
@pytest.mark.parametrize("options", [{}, {"mask": ch.causal()}, {"softcap": 3.0}])
def test_a_tangent_is_carried_forward(options, length):
    """The slope along ``t`` is that of two calls a small step apart."""
    torch.manual_seed(0)
    q, k, v, t = (torch.randn(1, 2, length, 8, dtype=torch.float64) for _ in range(4))
    with forward_ad.dual_level():
        out = ch.attention(forward_ad.make_dual(q, t), k, v, **options)
        tangent = forward_ad.unpack_dual(out).tangent
    step = 1e-5
    ahead, behind = (ch.attention(q + sign * step * t, k, v, **options) for sign in (1, -1))
    torch.testing.assert_close(tangent, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-7)
