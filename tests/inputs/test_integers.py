import numpy as np
import pytest
import torch

from clearhead.errors import ArgumentError, KindError, ShapeError
from clearhead.inputs.integers import integers, per_sample


@pytest.mark.parametrize("given", [[3, 4], (3, 4), np.array([3, 4], np.int8), torch.tensor([3, 4])])
def test_integers_come_as_lists_arrays_and_tensors(given):
    assert integers(given, "x").tolist() == [3, 4]
    assert integers(given, "x").dtype == np.int64


@pytest.mark.parametrize("given", [[1.0], 2.5, [True], np.array([1.0]), ["a"], torch.ones(1)])
def test_what_is_no_integer_is_refused(given):
    with pytest.raises(KindError, match=r"^lengths\(keys\): found .*; wanted integers"):
        integers(given, "lengths(keys)")


def test_a_ragged_list_is_refused():
    with pytest.raises(ShapeError, match="rectangular"):
        integers([[1], [1, 2]], "x")


def test_numbers_beyond_63_bits_are_refused_and_none_is_fine():
    with pytest.raises(ArgumentError, match="fit in 63 bits"):
        integers(np.array([2**63], np.uint64), "x")
    assert integers([], "x").dtype == np.int64


def test_a_plain_number_counts_for_every_sample():
    assert per_sample(4, (2, 3), "x").tolist() == [4] * 6
    assert per_sample([[1, 2]], (1, 2), "x").tolist() == [1, 2]
    with pytest.raises(ShapeError, match=r"found shape \(2,\); wanted the batch axes \(3,\)"):
        per_sample([1, 2], (3,), "x")
