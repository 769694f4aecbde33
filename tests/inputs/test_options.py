import math

import numpy as np
import pytest
import torch

from clearhead.errors import ArgumentError, KindError, ShapeError
from clearhead.inputs.options import (
    checked_scale,
    checked_sinks,
    checked_softcap,
    whole_number,
)


def test_the_default_scale_is_one_over_the_root_of_the_width():
    assert checked_scale(None, 16) == 0.25
    assert checked_scale(None, 3) == 1 / math.sqrt(3)
    assert checked_scale(None, 0) == 1.0  # no columns: every score is an empty sum


@pytest.mark.parametrize("scale", [0, -1, 1e-300, np.float32(0.5), torch.tensor(2.0)])
def test_any_finite_scale_is_taken(scale):
    assert checked_scale(scale, 4) == float(scale)


@pytest.mark.parametrize("scale", [math.nan, math.inf, -math.inf])
def test_an_infinite_scale_is_refused(scale):
    with pytest.raises(ArgumentError, match="scale: found"):
        checked_scale(scale, 4)


@pytest.mark.parametrize("scale", ["1", True, [1, 2], np.zeros(3), 1j])
def test_what_is_no_number_is_refused(scale):
    with pytest.raises(KindError, match="scale: found"):
        checked_scale(scale, 4)


def test_a_softcap_is_above_zero_or_none():
    assert checked_softcap(None) is None
    assert checked_softcap(30) == 30.0
    with pytest.raises(ArgumentError, match="None for no cap"):
        checked_softcap(0)
    with pytest.raises(ArgumentError, match="finite"):
        checked_softcap(math.inf)


def test_sinks_are_a_number_per_head():
    sinks = np.zeros(4, np.float32)
    assert checked_sinks(sinks, "float16", 4) is sinks
    assert checked_sinks(1.5, "float32", 3).tolist() == [1.5, 1.5, 1.5]
    assert checked_sinks([1, 2], "float64", 2).dtype == np.float64
    assert checked_sinks(torch.tensor(2.0), "float32", 2).tolist() == [2, 2]
    with pytest.raises(ShapeError, match=r"found shape \(3,\); wanted \(4,\)"):
        checked_sinks(np.zeros(3, np.float32), "float32", 4)
    with pytest.raises(KindError, match=r"sinks: found kind float64 .* wanted float32, since"):
        checked_sinks(np.zeros(4), "float32", 4)
    with pytest.raises(KindError, match="wanted float16 or float32, since"):
        checked_sinks(np.zeros(4), "float16", 4)


def test_whole_numbers_are_no_booleans_and_no_floats():
    assert whole_number(np.int16(3), "top", 0) == 3
    with pytest.raises(KindError, match="top: found True"):
        whole_number(True, "top", 0)
    with pytest.raises(KindError, match=r"top: found 1\.5"):
        whole_number(1.5, "top", 0)
    with pytest.raises(ArgumentError, match="top: found -1; wanted a whole number of 0 or more"):
        whole_number(-1, "top", 0)
    with pytest.raises(ArgumentError, match=r"top: found \d+; wanted a whole number below 2\*\*31"):
        whole_number(2**40, "top", 0)


def test_a_whole_number_beyond_all_floats_is_no_scale():
    with pytest.raises(ArgumentError, match="found inf; wanted a finite number"):
        checked_scale(10**400, 4)
