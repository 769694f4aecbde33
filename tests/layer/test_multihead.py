"""Multi-head attention against torch's, and against its own plain steps."""

import inspect

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.errors import ArgumentError, KindError, ShapeError


def torch_twin(layer):
    """torch.nn.MultiheadAttention with the same weights."""
    twin = torch.nn.MultiheadAttention(layer.width, layer.heads, batch_first=True)
    t = {name: torch.from_numpy(w) for name, w in layer.weights.items()}
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([t["w_q"].T, t["w_k"].T, t["w_v"].T]))
        twin.in_proj_bias.copy_(torch.cat([t["b_q"], t["b_k"], t["b_v"]]))
        twin.out_proj.weight.copy_(t["w_o"].T)
        twin.out_proj.bias.copy_(t["b_o"])
    return twin.eval()


@pytest.fixture
def layer(rng):
    made = ch.MultiHeadAttention(24, 4, seed=3)
    for name in ("b_q", "b_k", "b_v", "b_o"):
        setattr(made, name, rng.standard_normal(getattr(made, name).shape).astype(np.float32))
    return made


def numbers(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_self_attention_equals_torch(layer, rng):
    x = numbers(rng, 2, 7, 24)
    with torch.no_grad():
        wanted, weights = torch_twin(layer)(*[torch.from_numpy(x)] * 3, average_attn_weights=False)
    found, seen = layer(x, observe=ch.Observe(weights=True))
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-5)
    np.testing.assert_allclose(seen.weights, weights.numpy(), atol=1e-6)


def test_cross_attention_with_padding_equals_torch(layer, rng):
    x, memory, lengths = numbers(rng, 2, 3, 24), numbers(rng, 2, 6, 24), [6, 2]
    padded = torch.arange(6) >= torch.tensor(lengths)[:, None]  # torch: True is hidden
    m = torch.from_numpy(memory)
    with torch.no_grad():
        wanted, _ = torch_twin(layer)(torch.from_numpy(x), m, m, key_padding_mask=padded)
    found = layer(x, memory, mask=ch.lengths(keys=lengths))
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-5)


def test_causal_self_attention_equals_torch(layer, rng):
    x = numbers(rng, 1, 9, 24)
    hidden = torch.ones(9, 9, dtype=torch.bool).triu(1)
    with torch.no_grad():
        wanted, _ = torch_twin(layer)(*[torch.from_numpy(x)] * 3, attn_mask=hidden)
    np.testing.assert_allclose(layer(x, mask=ch.causal()), wanted.numpy(), atol=1e-5)


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_grouped_heads_share_keys_as_if_these_were_repeated(rng, kv_heads):
    grouped = ch.MultiHeadAttention(16, 4, kv_heads=kv_heads, head_width=5)
    full = ch.MultiHeadAttention(16, 4, head_width=5)
    full.w_q, full.w_o = grouped.w_q, grouped.w_o
    for name in ("w_k", "w_v"):
        shared = getattr(grouped, name).reshape(16, kv_heads, 5)
        setattr(full, name, shared.repeat(4 // kv_heads, axis=1).reshape(16, 20))
    x = numbers(rng, 2, 6, 16)
    np.testing.assert_allclose(grouped(x), full(x), atol=1e-6)


def test_torch_weights_run_the_same_lines_with_gradients(layer, rng):
    x = numbers(rng, 2, 5, 24)
    wanted = layer(x, mask=ch.causal())
    for name, w in layer.weights.items():
        setattr(layer, name, torch.from_numpy(w).requires_grad_())
    found = layer(torch.from_numpy(x), mask=ch.causal())
    np.testing.assert_allclose(found.detach().numpy(), wanted, atol=1e-5)
    found.sum().backward()
    assert layer.w_q.grad.abs().sum() > 0


def test_steps_are_the_call_told_slowly(layer, rng):
    x, memory = numbers(rng, 1, 4, 24), numbers(rng, 1, 6, 24)
    steps = layer.steps(x, mask=ch.lengths(keys=[5]), memory=memory)
    found = layer(x, memory, mask=ch.lengths(keys=[5]))
    np.testing.assert_allclose(steps.output, found, atol=1e-5)
    assert steps.weights.shape == (1, 4, 4, 6)


def test_observing_changes_no_bit_and_nothing_is_left_on_the_layer(layer, rng):
    x = numbers(rng, 2, 7, 24)
    before = dict(vars(layer))
    plain = layer(x)
    out, _ = layer(x, observe=ch.Observe(top=3, entropy=True, lse=True))
    np.testing.assert_array_equal(out, plain)
    assert dict(vars(layer)) == before


def test_widths_and_heads_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match="heads: found 3; wanted a number that divides the width"):
        ch.MultiHeadAttention(10, 3)
    with pytest.raises(ShapeError, match="kv_heads: found 3; wanted a number that divides heads"):
        ch.MultiHeadAttention(8, 4, kv_heads=3)
    with pytest.raises(ArgumentError, match="width: found 0; wanted a whole number of 1 or more"):
        ch.MultiHeadAttention(0, 1)
    for sizes in (("8", 2), (8, 2.0), (8, True)):
        with pytest.raises(KindError, match="wanted a whole number of 1 or more"):
            ch.MultiHeadAttention(*sizes)
    for name in ("kv_heads", "head_width"):
        for size in (-1, 0):
            with pytest.raises(ArgumentError, match=f"{name}: found {size}; wanted a whole number"):
                ch.MultiHeadAttention(8, 2, **{name: size})


def test_input_of_another_width_is_refused_by_name(layer):
    right, wrong = np.zeros((2, 24), np.float32), np.zeros((2, 3), np.float32)
    for call in (layer, layer.steps):
        with pytest.raises(ShapeError, match=r"x: found shape \(2, 3\); wanted \(..., length, 24"):
            call(wrong)
        with pytest.raises(ShapeError, match=r"memory: found shape \(2, 3\)"):
            call(right, wrong)


def test_what_is_no_array_of_the_weights_library_is_refused_by_name(layer):
    x = np.zeros((1, 2, 24), np.float32)
    for call in (layer, layer.steps):
        with pytest.raises(KindError, match=r"memory: found the mask causal\(\); .* name the mask"):
            call(x, ch.causal())
        with pytest.raises(KindError, match="x: found list; wanted a NumPy array"):
            call(x.tolist())
        with pytest.raises(KindError, match="x: found torch beside weights of NumPy"):
            call(torch.from_numpy(x))


@pytest.mark.parametrize("kind", [np.float64, np.float16, ml_dtypes.bfloat16])
def test_nothing_is_promoted_silently(layer, kind):
    x, wide = np.zeros((1, 2, 24), np.float32), np.zeros((1, 2, 24), kind)
    name = np.dtype(kind).name
    for call in (layer, layer.steps):
        with pytest.raises(KindError, match=f"x: found kind {name} beside weights of float32"):
            call(wide)
        with pytest.raises(KindError, match=f"memory: found kind {name} beside weights"):
            call(x, wide)
    assert ch.MultiHeadAttention(24, 4, dtype=np.float64)(np.zeros((1, 2, 24))).dtype == np.float64


def test_call_and_steps_take_the_same_in_the_same_order(layer):
    called, told = (inspect.signature(f).parameters for f in (layer, layer.steps))
    assert [p for p in called.values() if p.name != "observe"] == list(told.values())
    assert [n for n, p in called.items() if p.kind != p.KEYWORD_ONLY] == ["x", "memory"]


def test_it_prints_as_the_call_that_makes_it():
    assert repr(ch.MultiHeadAttention(8, 4, kv_heads=2)) == (
        "MultiHeadAttention(width=8, heads=4, kv_heads=2)"
    )
