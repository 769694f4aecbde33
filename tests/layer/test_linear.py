"""The linear map, in both libraries."""

import numpy as np
import torch

from clearhead.layer.linear import linear


def test_it_is_x_w_plus_b_over_any_leading_axes(rng):
    x, w, b = rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 5)), rng.standard_normal(5)
    np.testing.assert_allclose(linear(x, w, b), np.einsum("abi,io->abo", x, w) + b, rtol=1e-12)
    assert linear(x[0, 0], w).shape == (5,)


def test_torch_runs_the_same_line(rng):
    x, w = rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 5))
    found = linear(torch.from_numpy(x), torch.from_numpy(w))
    np.testing.assert_allclose(found.numpy(), linear(x, w), rtol=1e-12)


def test_no_rows_at_all_give_none():
    assert linear(np.zeros((0, 3, 4)), np.zeros((4, 5))).shape == (0, 3, 5)


def test_transposed_and_strided_input_gives_the_same(rng):
    x, w = rng.standard_normal((3, 2, 4)), rng.standard_normal((4, 5))
    np.testing.assert_allclose(
        linear(x.swapaxes(0, 1), w), linear(np.ascontiguousarray(x.swapaxes(0, 1)), w), rtol=1e-12
    )
