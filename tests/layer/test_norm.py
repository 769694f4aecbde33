"""Layer normalisation against torch."""

import numpy as np
import pytest
import torch

from clearhead.layer.norm import layer_norm


@pytest.mark.parametrize("bias", [True, False])
def test_it_equals_torch(rng, bias):
    x = rng.standard_normal((2, 3, 16)).astype(np.float32)
    w = rng.standard_normal(16).astype(np.float32)
    b = rng.standard_normal(16).astype(np.float32) if bias else None
    tensors = [None if y is None else torch.from_numpy(y) for y in (x, w, b)]
    wanted = torch.nn.functional.layer_norm(tensors[0], (16,), tensors[1], tensors[2], 1e-5)
    np.testing.assert_allclose(layer_norm(x, w, b), wanted.numpy(), atol=1e-6)
    np.testing.assert_array_equal(layer_norm(*tensors).numpy(), wanted.numpy())


def test_the_kind_stays(rng):
    x = rng.standard_normal((3, 8)).astype(np.float32)
    assert layer_norm(x, np.ones(8, np.float32)).dtype == np.float32


def test_equal_numbers_give_the_bias_and_no_division_by_zero():
    found = layer_norm(np.full((1, 4), 7.0), np.ones(4), np.full(4, 3.0))
    np.testing.assert_allclose(found, 3.0)


def test_a_large_shift_does_not_spoil_the_variance(rng):
    """The variance is of centred numbers, not a difference of two large squares."""
    x = rng.standard_normal((4, 64))
    shifted = (x + 1e4).astype(np.float32)
    np.testing.assert_allclose(layer_norm(shifted, np.ones(64, np.float32)),
                               layer_norm(x, np.ones(64)), atol=5e-3)  # fmt: skip
