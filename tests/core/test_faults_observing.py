"""Faults of other software, as kinds: weights, entropy, top-k and lse that are missing or wrong."""

from dataclasses import fields

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.core import steps
from clearhead.inputs.arrays import as_numpy
from support.observations import HELD, everything

EVERYTHING = everything(top=3, map=4, rows=[])


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize(("batch", "queries", "keys"), [(0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 0, 0)])
def test_empty_inputs_give_empty_observations_of_the_promised_shape(
    attention, batch, queries, keys, grad
):
    q, k, v = (torch.zeros(batch, 2, n, d, requires_grad=grad) for n, d in
               ((queries, 4), (keys, 4), (keys, 5)))  # fmt: skip
    out, seen = attention(q, k, v, observe=EVERYTHING)
    heads = (batch, 2)
    assert tuple(out.shape) == (*heads, queries, 5)
    sizes = {"N": queries, "M": keys, "k": 3, "R": 0, "I": min(queries, 4), "J": min(keys, 4)}
    for field in fields(seen):
        shape = (sizes[axis] for axis in HELD[field.name].axes)
        assert tuple(getattr(seen, field.name).shape) == (*heads, *shape), field.name
    assert (out == 0).all()
    assert not keys or seen.visible.all()
    assert keys or not seen.visible.any()
    assert keys or (seen.top_keys == -1).all()


def test_each_call_returns_what_it_asked_for(attention, rng):
    x = rng.standard_normal((1, 2, 4, 3))
    _, first = attention(x, x, x, observe=ch.Observe(weights=True))
    plain = attention(x, x, x)
    _, second = attention(x, x, x, observe=ch.Observe(entropy=True))
    assert isinstance(plain, np.ndarray)
    assert first.weights is not None
    assert first.entropy is None
    assert second.weights is None
    assert second.entropy is not None


def test_what_a_key_receives_is_summed_over_the_queries(attention):
    """Weights [[.9, .1], [.8, .2]]: the keys receive 1.7 and 0.3 of two queries."""
    bias = np.log(np.array([[0.9, 0.1], [0.8, 0.2]]))
    q, k = np.zeros((1, 1, 2, 1)), np.zeros((1, 1, 2, 1))
    _, seen = attention(q, k, k, bias=bias, observe=ch.Observe(received=True))
    np.testing.assert_allclose(2 * seen.received[0, 0], [1.7, 0.3], atol=1e-12)


def test_entropy_of_one_visible_key_is_zero_with_a_finite_gradient(attention, rng):
    x = torch.tensor(rng.standard_normal((1, 1, 4, 3)), requires_grad=True)
    _, seen = attention(x, x, x, mask=ch.causal(), observe=ch.Observe(entropy=True))
    assert seen.entropy[0, 0, 0].item() == 0
    seen.entropy.sum().backward()
    assert torch.isfinite(x.grad).all()


def test_entropy_of_two_equal_weights_is_ln_2_without_a_small_number_in_it(attention, zeros):
    _, seen = attention(zeros(1), zeros(2), zeros(2), observe=ch.Observe(entropy=True))
    np.testing.assert_allclose(seen.entropy.item(), np.log(2), rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_entropy_does_not_depend_on_where_the_largest_score_comes(attention, column, kind):
    q = np.ones((1, 1, 1, 1), kind)
    k = column(0, 1, 2, kind=kind)
    _, seen = attention(q, k, k, scale=1, observe=ch.Observe(entropy=True))
    np.testing.assert_allclose(seen.entropy.item(), 0.832396, atol=1e-6)
    rising = np.arange(4096) * 0.01
    for order in (rising, rising[::-1], np.roll(rising, 999)):
        k = order.reshape(1, 1, -1, 1).astype(kind)
        _, seen = attention(q, k, k, scale=1, observe=ch.Observe(entropy=True, lse=True))
        s = k.reshape(-1).astype(np.float64)
        p = np.exp(s - s.max())
        p /= p.sum()
        expected = -(p * np.log(p)).sum()
        np.testing.assert_allclose(seen.entropy.item(), expected, atol=1e-5)
        lse = s.max() + np.log(np.exp(s - s.max()).sum())
        np.testing.assert_allclose(seen.lse.item(), lse, atol=2e-5)


def test_entropy_of_large_scores_is_not_a_difference_of_large_numbers(attention, column):
    for kind, large in ((np.float32, 500), (np.float64, 1e6)):
        q, k = np.ones((1, 1, 1, 1), kind), column(large, large + 1, large + 2, kind=kind)
        _, seen = attention(q, k, k, scale=1, observe=ch.Observe(entropy=True))
        np.testing.assert_allclose(seen.entropy.item(), 0.832396, atol=1e-5)


def test_lse_has_a_gradient(attention):
    q = torch.ones(1, 1, 1, 1, dtype=torch.float64, requires_grad=True)
    k = torch.tensor([1.0, 0.0]).double().reshape(1, 1, 2, 1)
    _, seen = attention(q, k, k, scale=1, observe=ch.Observe(lse=True))
    seen.lse.sum().backward()
    np.testing.assert_allclose(q.grad.item(), 0.731059, atol=1e-6)


def test_more_keys_asked_for_than_there_are(attention, rng):
    q, k = rng.standard_normal((1, 1, 64, 4)), rng.standard_normal((1, 1, 30, 4))
    _, seen = attention(q, k, k, observe=ch.Observe(top=32))
    assert seen.top_keys.shape == (1, 1, 64, 32)
    assert (np.sort(seen.top_keys[..., :30], axis=-1) == np.arange(30)).all()
    assert (seen.top_keys[..., 30:] == -1).all()
    assert (seen.top_weights[..., 30:] == 0).all()
    np.testing.assert_allclose(seen.top_weights.sum(-1), 1, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16])
def test_strongest_keys_among_near_equal_ones_are_those_of_float64(attention, kind):
    """Equal but for ties: what separates the two sets is within a rounding of the weights."""
    rng = np.random.default_rng(3)
    q = np.ones((1, 1, 2, 16), kind)
    k = (1 + rng.integers(0, 5, (1, 1, 4096, 16)) / 128).astype(kind)
    _, seen = attention(q, k, k, observe=ch.Observe(top=8))
    exact = [x.astype(np.float64) for x in (q, k, k)]
    _, judge = steps.attention(*exact, observe=ch.Observe(top=8, weights=True))
    found = as_numpy(seen.top_keys)[0, 0, 0]
    weights = judge.weights[0, 0, 0]
    np.testing.assert_allclose(weights[found], judge.top_weights[0, 0, 0], rtol=1e-5)
    np.testing.assert_allclose(seen.top_weights[0, 0, 0], weights[found], rtol=1e-5)
    assert len(set(found.tolist())) == 8


@pytest.mark.parametrize("mask", [None, ch.causal(), ch.lengths(keys=3)], ids=repr)
def test_asking_does_not_change_an_output_that_has_a_gradient(attention, rng, mask):
    q, k, v = (
        torch.tensor(rng.standard_normal((1, 2, 5, 4)), dtype=torch.float32, requires_grad=True)
        for _ in "qkv"
    )
    plain = attention(q, k, v, mask=mask)
    out, seen = attention(q, k, v, mask=mask, observe=EVERYTHING)
    assert torch.equal(out, plain)
    (out.sum() + seen.entropy.sum()).backward()
    assert torch.isfinite(q.grad).all()


def test_observing_does_not_need_a_gradient_and_gives_the_same(attention, rng):
    q, k, v = (torch.tensor(rng.standard_normal((1, 2, 5, 4))) for _ in range(3))
    _, plain = attention(q, k, v, observe=EVERYTHING)
    _, traced = attention(q.clone().requires_grad_(), k, v, observe=EVERYTHING)
    for name in vars(plain):
        torch.testing.assert_close(getattr(traced, name), getattr(plain, name), atol=1e-12, rtol=0)
