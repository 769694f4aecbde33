import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.errors import ArgumentError, KindError, ShapeError
from clearhead.inputs.biases import alibi_bias, alibi_slopes, bias_view, checked_bias
from clearhead.inputs.shapes import Sizes

SIZES = Sizes((2,), 4, 2, 3, 5, 8, 8)


@pytest.mark.parametrize("shape", [(), (5,), (3, 1), (4, 3, 5), (1, 1, 3, 5), (2, 4, 3, 5)])
@pytest.mark.parametrize("make", [np.zeros, torch.zeros])
def test_a_bias_is_aligned_from_the_right(make, shape):
    bias = make(shape, dtype=make(1).dtype)
    kind = str(bias.dtype).removeprefix("torch.")
    view = bias_view(checked_bias(bias, kind, SIZES), SIZES)
    assert tuple(view.shape) == (2, 4, 3, 5)
    assert type(view) is type(make(1))


def test_three_axes_are_per_head():
    bias = np.arange(4.0).reshape(4, 1, 1)
    view = bias_view(checked_bias(bias, "float64", SIZES), SIZES)
    assert view[1, :, 0, 0].tolist() == [0, 1, 2, 3]
    assert view.strides[0] == 0


def test_two_batch_axes_become_one():
    sizes = SIZES._replace(batch=(2, 3))
    bias = np.arange(6.0).reshape(2, 3, 1, 1, 1)
    view = bias_view(bias, sizes)
    assert view[:, 3, 2, 4].tolist() == [0, 1, 2, 3, 4, 5]
    assert view.strides[1:] == (0, 0, 0)
    assert bias_view(np.zeros((3, 5)), sizes).strides[0] == 0
    assert bias_view(np.zeros((3, 5)), sizes._replace(batch=())).shape == (1, 4, 3, 5)


@pytest.mark.parametrize(
    ("query", "bias", "fine"),
    [
        ("float32", np.float32, True),
        ("float32", np.float64, False),
        ("float32", np.float16, False),
        ("float64", np.float32, True),
        ("float16", np.float16, True),
        ("float16", np.float32, True),
        ("bfloat16", np.float16, False),
        ("bfloat16", ml_dtypes.bfloat16, True),
    ],
)
def test_a_bias_has_the_kind_of_the_query_or_float32(query, bias, fine):
    array = np.zeros((3, 5), bias)
    if fine:
        assert checked_bias(array, query, SIZES) is array
    else:
        with pytest.raises(KindError, match=f"beside a query of {query}"):
            checked_bias(array, query, SIZES)


def test_what_is_no_bias_is_refused():
    with pytest.raises(KindError, match="mask="):
        checked_bias(np.ones((3, 5), bool), "float32", SIZES)
    with pytest.raises(KindError, match="mask="):
        checked_bias(torch.ones(3, 5, dtype=torch.bool), "float32", SIZES)
    with pytest.raises(ShapeError, match=r"found shape \(2, 3, 5\); .*\(2, 4, 3, 5\)"):
        checked_bias(np.ones((2, 3, 5), np.float32), "float32", SIZES)
    with pytest.raises(KindError, match="found kind int64"):
        checked_bias(np.ones((3, 5), int), "float32", SIZES)


def test_alibi_is_the_distance_times_the_slope():
    found = alibi_bias(ch.alibi([1.0, 2.0, 0.0, 0.5]), np.array([2, 0]), SIZES, np.zeros(1))
    assert found.shape == (2, 4, 3, 5)
    assert found[0, 1].tolist() == [[-4, -2, 0, -2, -4], [-6, -4, -2, 0, -2], [-8, -6, -4, -2, 0]]
    assert found[1, 3, 0].tolist() == [0, -0.5, -1, -1.5, -2]


def test_alibi_slopes_of_powers_of_two_and_of_others():
    assert alibi_slopes(8)[[0, 7]].tolist() == [0.5, 0.00390625]
    assert alibi_slopes(6).tolist() == [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]
    assert alibi_slopes(1).tolist() == [0.00390625]
    assert len(alibi_slopes(12)) == 12
    with pytest.raises(ArgumentError, match="heads"):
        alibi_slopes(0)


def test_alibi_refuses_what_is_no_slope_per_head():
    with pytest.raises(ShapeError, match="found 3 slopes; wanted 4"):
        ch.alibi([1.0, 2.0, 3.0]).per_head(4)
    with pytest.raises(ShapeError, match="a number per head"):
        ch.alibi(np.zeros((2, 2)))
    with pytest.raises(ArgumentError, match="NaN or infinite"):
        ch.alibi([1.0, np.nan])
    with pytest.raises(KindError, match="wanted floats"):
        ch.alibi(np.array([1, 2]))


@pytest.mark.parametrize("slopes", [0.5, np.float32(0.5), torch.tensor(0.5), [0.5] * 3])
def test_alibi_takes_one_number_for_every_head(slopes):
    assert ch.alibi(slopes).per_head(3).tolist() == [0.5, 0.5, 0.5]
