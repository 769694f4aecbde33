"""Faults of other software, as kinds: scale, softcap, sinks, bias and windows."""

import numpy as np
import pytest
import torch

import clearhead as ch


def flat(out):
    return np.asarray(out).reshape(-1)


@pytest.mark.parametrize("size", [2, 33, 70])
@pytest.mark.parametrize(("scale", "second"), [(0, 0.5), (-1, 0.268941)])
def test_a_scale_of_zero_or_below_under_causal(attention, size, scale, second):
    q, k, v = (np.ones((1, 1, size, 1)), *np.zeros((2, 1, 1, size, 1)))
    k[0, 0, 1::2] = v[0, 0, 1::2] = 1
    out = flat(attention(q, k, v, scale=scale, mask=ch.causal()))
    np.testing.assert_allclose(out[:2], [0, second], atol=1e-6)
    odd, even = np.exp(scale), 1.0
    ones, zeros = (np.arange(size) + 1) // 2, np.arange(size) // 2 + 1
    np.testing.assert_allclose(out, ones * odd / (ones * odd + zeros * even), atol=1e-12)


def test_the_default_scale_is_that_of_the_width_handed_in(attention):
    q, k, v = np.zeros((1, 1, 1, 3)), np.zeros((1, 1, 2, 3)), np.zeros((1, 1, 2, 1))
    q[..., 0], k[0, 0, 0, 0], v[0, 0, 0] = 3, 1, 1
    np.testing.assert_allclose(attention(q, k, v).item(), 0.849675, atol=1e-6)


@pytest.mark.parametrize(("scores", "right"), [((100, 0), 0.731059), ((1, 0), 0.681700)])
def test_softcap_is_cap_times_tanh_of_score_over_cap(attention, column, scores, right):
    out = attention(np.ones((1, 1, 1, 1)), column(*scores), column(1, 0), scale=1, softcap=1)
    np.testing.assert_allclose(out.item(), right, atol=1e-6)


def test_a_sink_is_in_the_sum_alone(attention, zeros, column):
    observe = ch.Observe(weights=True, lse=True)
    out, seen = attention(zeros(1), zeros(3), column(1, 1, 1), sinks=np.zeros(1), observe=observe)
    np.testing.assert_allclose(out.item(), 0.75, atol=1e-15)
    np.testing.assert_allclose(flat(seen.weights), [0.25] * 3, atol=1e-15)
    np.testing.assert_allclose(seen.lse.item(), np.log(4), atol=1e-15)


def test_a_sink_has_a_gradient(attention):
    zero = torch.zeros(1, 1, 3, 1, dtype=torch.float64, requires_grad=True)
    sinks = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    out = attention(zero[:, :, :1], zero, torch.ones_like(zero), sinks=sinks)
    out.sum().backward()
    np.testing.assert_allclose(sinks.grad.item(), -0.1875, atol=1e-15)


def test_a_broadcast_bias_gets_the_sum_of_its_gradients(attention, rng):
    q, k, v = (torch.tensor(rng.standard_normal((2, 2, 3, 4)), requires_grad=True) for _ in "qkv")
    bias = torch.tensor(rng.standard_normal((1, 2, 1, 3)), requires_grad=True)
    whole = bias.detach().expand(2, 2, 3, 3).clone().requires_grad_()
    weight = torch.tensor(rng.standard_normal((2, 2, 3, 4)))
    (attention(q, k, v, bias=bias) * weight).sum().backward()
    (attention(q, k, v, bias=whole) * weight).sum().backward()
    assert bias.grad.shape == bias.shape
    torch.testing.assert_close(bias.grad, whole.grad.sum((0, 2), keepdim=True))


@pytest.mark.parametrize("learned", ["bias", "sinks", "slopes"])
def test_what_alone_is_learned_gets_its_gradient(attention, rng, learned):
    q, k, v = (torch.tensor(rng.standard_normal((1, 2, 3, 4))) for _ in "qkv")
    leaf = torch.tensor(rng.standard_normal(2 if learned != "bias" else (2, 3, 3)))
    leaf.requires_grad_()
    options = {"sinks": leaf} if learned == "sinks" else {"bias": leaf}
    if learned == "slopes":
        options = {"bias": ch.alibi(leaf)}
    (attention(q, k, v, **options) ** 2).sum().backward()
    assert leaf.grad.shape == leaf.shape
    assert (leaf.grad != 0).any()
    with torch.no_grad():
        assert not attention(q, k, v, **options).requires_grad


def test_a_learned_table_and_a_temperature_get_their_gradients(attention, rng):
    q, k, v = (torch.tensor(rng.standard_normal((1, 1, 4, 3))) for _ in "qkv")
    table = torch.tensor(rng.standard_normal(7), requires_grad=True)
    temperature = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    index = torch.arange(4)[:, None] - torch.arange(4) + 3

    def ours(table, temperature):
        return attention(q * temperature, k, v, bias=table[index])

    def dense(table, temperature):
        scores = q * temperature @ k.mT / 3**0.5 + table[index]
        return torch.softmax(scores, -1) @ v

    grads = [
        torch.autograd.grad((f(table, temperature) ** 2).sum(), (table, temperature))
        for f in (ours, dense)
    ]
    for one, other in zip(*grads, strict=True):
        torch.testing.assert_close(one, other)


def test_a_float32_bias_beside_bfloat16_has_a_finite_gradient_of_its_kind(attention):
    q, k, v = (torch.randn(1, 2, 3, 4, dtype=torch.bfloat16, requires_grad=True) for _ in "qkv")
    bias = torch.randn(2, 3, 3, requires_grad=True)
    attention(q, k, v, bias=bias).float().sum().backward()
    assert bias.grad.dtype == torch.float32
    for leaf in (q, k, v, bias):
        assert torch.isfinite(leaf.grad).all()


def test_a_window_acts_without_any_other_mask(attention, rng):
    x = rng.standard_normal((1, 1, 40, 4))
    near = attention(x, x, x, mask=ch.window(1, 1))
    far = attention(x, x, x, mask=ch.window(32, 32))
    assert np.abs(near - far).max() > 0.1


def test_a_window_to_the_left_does_not_see_the_future(attention, zeros, column):
    out = attention(zeros(4), zeros(4), column(0, 1, 2, 3), mask=ch.window(1, 0))
    assert flat(out).tolist() == [0, 0.5, 1.5, 2.5]


def test_lengths_are_not_ignored(attention, zeros, column):
    mask = ch.lengths(keys=[2])
    assert attention(zeros(1), zeros(4), column(1, 3, 50, 70), mask=mask).item() == 2


@pytest.mark.parametrize("chunk", [1, 3])
def test_a_sliding_window_over_a_cache_is_that_of_the_full_pass(attention, rng, chunk):
    q, k, v = (rng.standard_normal((1, 2, 12, 4)) for _ in "qkv")
    whole = attention(q, k, v, mask=ch.window(3, 0))
    cache = ch.KVCache(1, 2, 16, 4, 4, "float64")
    for start in range(0, 12, chunk):
        now = slice(start, start + chunk)
        cache.append(k[:, :, now], v[:, :, now])
        mask = cache.mask() & ch.window(3, 0)
        out = attention(q[:, :, now], cache.keys, cache.values, mask=mask)
        np.testing.assert_allclose(out, whole[:, :, now], atol=1e-12)


def test_alibi_is_its_written_out_form(attention, rng):
    q, k = rng.standard_normal((2, 4, 5, 3)), rng.standard_normal((2, 4, 8, 3))
    slopes = np.array([0.5, 0.25, 0.0, -0.125])
    distance = np.abs(np.arange(5)[:, None] + 3 - np.arange(8))
    written = -slopes[:, None, None] * distance
    out = attention(q, k, k, bias=ch.alibi(slopes), mask=ch.causal(align="end"))
    np.testing.assert_allclose(
        out, attention(q, k, k, bias=written, mask=ch.causal(align="end")), atol=1e-12
    )
    per_sample = ch.lengths(keys=[8, 6]) & ch.causal(align="end")
    moved = np.abs(np.arange(5)[:, None] + np.array([3, 1])[:, None, None, None] - np.arange(8))
    np.testing.assert_allclose(
        attention(q, k, k, bias=ch.alibi(slopes), mask=per_sample),
        attention(q, k, k, bias=-slopes[:, None, None] * moved, mask=per_sample),
        atol=1e-12,
    )
