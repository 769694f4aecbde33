import math

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.core import steps
from support.observations import everything, held_fields

WORDS, WIDTH, HEADS = 5, 8, 2


def matrices(rng, bias=False):
    found = {name: rng.standard_normal((WIDTH, WIDTH)) for name in ("w_q", "w_k", "w_v", "w_o")}
    if bias:
        found |= {name: rng.standard_normal(WIDTH) for name in ("b_q", "b_k", "b_v", "b_o")}
    return found


def test_each_step_is_its_formula(rng):
    x, w = rng.standard_normal((WORDS, WIDTH)), rng.standard_normal((WIDTH, 3))
    q, k, v = steps.queries(x, w), steps.keys(x, w, np.ones(3)), steps.values(x, w)
    np.testing.assert_allclose(q, np.einsum("nw,wd->nd", x, w))
    np.testing.assert_allclose(k, q + 1)
    s = steps.scores(q, k)
    np.testing.assert_allclose(s, np.einsum("id,jd->ij", q, k))
    scaled = steps.scaled_scores(s, 1 / math.sqrt(3))
    np.testing.assert_allclose(scaled, s / math.sqrt(3))
    p = steps.weights(scaled)
    np.testing.assert_allclose(p, np.exp(scaled) / np.exp(scaled).sum(-1, keepdims=True))
    np.testing.assert_allclose(p.sum(-1), 1)
    each = steps.weighted_values(p, v)
    np.testing.assert_allclose(each, np.einsum("ij,jd->ijd", p, v))
    np.testing.assert_allclose(steps.head_outputs(each), p @ v)


def test_heads_lie_side_by_side_in_order():
    z = np.arange(12.0).reshape(2, 3, 2)  # (H, N, d_v)
    assert steps.concatenated(z)[1].tolist() == [2, 3, 8, 9]
    assert steps.output(steps.concatenated(z), np.eye(4), np.ones(4))[0].tolist() == [1, 2, 7, 8]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_all_steps_of_a_layer_end_in_its_output(rng, lead, bias):
    x, w = rng.standard_normal((*lead, WORDS, WIDTH)), matrices(rng, bias)
    found = steps.multi_head_steps(x, w, HEADS, mask=ch.causal())
    layer = torch.nn.MultiheadAttention(WIDTH, HEADS, bias=bias, batch_first=True).double()
    with torch.no_grad():
        layer.in_proj_weight.copy_(
            torch.tensor(np.concatenate([w["w_q"], w["w_k"], w["w_v"]], 1).T)
        )
        layer.out_proj.weight.copy_(torch.tensor(w["w_o"].T))
        if bias:
            layer.in_proj_bias.copy_(torch.tensor(np.concatenate([w["b_q"], w["b_k"], w["b_v"]])))
            layer.out_proj.bias.copy_(torch.tensor(w["b_o"]))
        flat = torch.tensor(x.reshape(-1, WORDS, WIDTH))
        hidden = ~torch.ones(WORDS, WORDS).tril().bool()
        out, weights = layer(flat, flat, flat, attn_mask=hidden, average_attn_weights=False)
    np.testing.assert_allclose(found.output.reshape(out.shape), out, atol=1e-12)
    np.testing.assert_allclose(found.weights.reshape(weights.shape), weights, atol=1e-12)
    assert found.weighted_values.shape == (*lead, HEADS, WORDS, WORDS, WIDTH // HEADS)
    np.testing.assert_allclose(found.weighted_values.sum(-2), found.head_outputs, atol=1e-12)
    assert "Steps(width=8" in repr(found)


def test_steps_look_at_a_memory_with_grouped_heads(rng):
    x, memory = rng.standard_normal((2, 3, 8)), rng.standard_normal((2, 5, 8))
    w = matrices(rng) | {name: rng.standard_normal((8, 4)) for name in ("w_k", "w_v")}
    w["w_q"] = rng.standard_normal((8, 8))
    found = steps.multi_head_steps(x, w, 4, kv_heads=2, memory=memory)
    assert found.keys.shape == (2, 2, 5, 2)
    assert found.weights.shape == (2, 4, 3, 5)
    assert found.output.shape == (2, 3, 8)
    assert found.weighted_values.shape == (2, 4, 3, 5, 2)


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16"])
def test_both_libraries_give_the_kind_and_library_they_get(attention, rng, name):
    dtype = ml_dtypes.bfloat16 if name == "bfloat16" else name
    q, k, v = (rng.standard_normal((2, 2, n, 4)).astype(dtype) for n in (3, 5, 5))
    observe = everything(top=2, map=2)
    out, seen = attention(q, k, v, observe=observe)
    tensors = [torch.tensor(x.astype("float64")).to(getattr(torch, name)) for x in (q, k, v)]
    torch_out, torch_seen = attention(*tensors, observe=observe)
    assert out.dtype == q.dtype
    assert torch_out.dtype == tensors[0].dtype
    wide = "float64" if name == "float64" else "float32"
    whole = {"top_keys": "int32", "visible": "bool"}
    for field, ours, _ in held_fields(seen):
        theirs = getattr(torch_seen, field)
        assert isinstance(ours, np.ndarray)
        assert str(ours.dtype) == whole.get(field, wide)
        assert isinstance(theirs, torch.Tensor)
        assert str(theirs.dtype) == f"torch.{whole.get(field, wide)}"
        np.testing.assert_allclose(ours, theirs.numpy(), atol=2e-6)
    np.testing.assert_allclose(out.astype("float64"), torch_out.double().numpy(), atol=0.01)


def test_plain_form_agrees_with_torch_in_float64(rng):
    q, k, v = (torch.tensor(rng.standard_normal((2, n, m, 8))) for n, m in ((4, 6), (2, 9), (2, 9)))
    may = torch.tensor(rng.random((2, 1, 6, 9)) < 0.7)
    may[..., 0] = True
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, may, enable_gqa=True)
    torch.testing.assert_close(steps.attention(q, k, v, mask=may), theirs, rtol=0, atol=1e-14)


def test_options_are_applied_in_their_order(attention, column):
    """scale, softcap, bias, mask, softmax with the sink in the sum."""
    q, k, v = np.full((1, 1, 1, 1), 2.0), column(3.0, 1.0, 5.0), column(1.0, 0.0, 9.0)
    bias = np.array([[0.5, 0.0, 0.0]])
    out = attention(q, k, v, scale=0.5, softcap=2.0, bias=bias, mask=[[True, True, False]],
                    sinks=np.array([0.25]))  # fmt: skip
    first = math.exp(2 * math.tanh(2 * 3 * 0.5 / 2) + 0.5)
    second = math.exp(2 * math.tanh(2 * 1 * 0.5 / 2))
    expected = first / (first + second + math.exp(0.25))
    np.testing.assert_allclose(out.item(), expected, rtol=1e-12)


def test_gradients_are_those_of_finite_differences(rng):
    def leaf(*shape):
        return torch.tensor(rng.standard_normal(shape), requires_grad=True)

    q, k, v = leaf(1, 2, 3, 2), leaf(1, 1, 4, 2), leaf(1, 1, 4, 3)
    bias, sinks, slopes = leaf(2, 1, 4), leaf(2), leaf(2)
    mask = ch.causal(align="end") & ch.lengths(queries=2)

    def out_and_lse(q, k, v, bias, sinks):
        out, seen = steps.attention(
            q, k, v, mask=mask, bias=bias, softcap=2.0, sinks=sinks,
            observe=ch.Observe(entropy=True, lse=True),
        )  # fmt: skip
        return out, seen.lse, seen.entropy

    assert torch.autograd.gradcheck(out_and_lse, (q, k, v, bias, sinks))
    assert torch.autograd.gradcheck(
        lambda s: steps.attention(q, k, v, mask=mask, bias=ch.alibi(s)), (slopes,)
    )


def test_no_step_writes_into_what_it_was_given(rng):
    q, k, v = (rng.standard_normal((1, 2, 3, 2)) for _ in range(3))
    for x in (q, k, v):
        x.flags.writeable = False
    out, seen = steps.attention(q, k, v, mask=ch.causal(), observe=ch.Observe(weights=True))
    assert out.flags.writeable
    assert np.isfinite(seen.weights).all()
