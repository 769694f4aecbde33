"""The feed-forward network and its activations."""

import numpy as np
import pytest
import torch

from clearhead.errors import ArgumentError
from clearhead.layer.feedforward import feed_forward, gelu


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_gelu_is_torchs_exact_one_to_a_millionth(kind):
    x = np.linspace(-10, 10, 20_001).astype(kind)
    wanted = torch.nn.functional.gelu(torch.from_numpy(x.astype(np.float64))).numpy()
    assert np.abs(gelu(x) - wanted).max() < 1e-6
    assert gelu(x).dtype == kind


def test_gelu_at_the_ends_of_the_number_line():
    x = np.array([-np.inf, -1e30, 0.0, 1e30], np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        found = gelu(x)
    assert found[1] == 0
    assert found[2] == 0
    assert found[3] == np.float32(1e30)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("bias", [True, False])
def test_it_equals_torch_and_torch_runs_the_same_lines(rng, activation, bias):
    x = rng.standard_normal((2, 3, 4))
    weights = {"w_in": rng.standard_normal((4, 8)), "w_out": rng.standard_normal((8, 4))}
    if bias:
        weights |= {"b_in": rng.standard_normal(8), "b_out": rng.standard_normal(4)}
    t = {name: torch.from_numpy(w) for name, w in weights.items()}
    inner = torch.from_numpy(x) @ t["w_in"] + t.get("b_in", 0)
    wanted = getattr(torch.nn.functional, activation)(inner) @ t["w_out"] + t.get("b_out", 0)
    np.testing.assert_allclose(feed_forward(x, weights, activation), wanted.numpy(), atol=1e-5)
    found = feed_forward(torch.from_numpy(x), t, activation)
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), atol=1e-12)


def test_an_unknown_activation_is_refused_by_name():
    weights = {"w_in": np.eye(2), "w_out": np.eye(2)}
    with pytest.raises(ArgumentError, match="'swish'; wanted 'relu' or 'gelu'"):
        feed_forward(np.ones((1, 2)), weights, "swish")
