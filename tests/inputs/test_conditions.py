import numpy as np
import pytest
import torch

from clearhead.errors import ArgumentError, KindError, MaskError, ShapeError
from clearhead.inputs.conditions import Allowed, Anchor, Band, Lengths, Segments


def test_integers_are_copied_so_that_later_changes_do_not_reach_the_mask():
    given = np.array([3, 4])
    condition = Lengths(given)
    given[0] = 9
    assert condition.keys.tolist() == [3, 4]


def test_lengths_must_be_given_and_not_negative():
    with pytest.raises(ArgumentError, match="found neither"):
        Lengths()
    with pytest.raises(MaskError, match=r"lengths\(queries\): found -1"):
        Lengths(queries=[3, -1])


def test_segment_ids_are_per_position_and_only_minus_one_is_negative():
    with pytest.raises(ShapeError, match="found one number"):
        Segments(3)
    with pytest.raises(MaskError, match="found -2"):
        Segments([0, -2])


def test_bounds_of_a_window_are_whole_numbers_or_open():
    with pytest.raises(ArgumentError, match=r"left: found -1; .* None for an open side"):
        Band(-1, 0, None)
    with pytest.raises(KindError, match=r"right: found 1\.5"):
        Band(0, 1.5, None)
    with pytest.raises(KindError, match="left: found True"):
        Band(True, 0, None)


def test_an_anchor_is_an_offset_or_an_alignment():
    with pytest.raises(ArgumentError, match="offset=0"):
        Anchor(None, "start")
    with pytest.raises(ArgumentError, match="wanted one of them"):
        Anchor(0, "end")
    with pytest.raises(KindError, match="offset"):
        Anchor(0.5)
    with pytest.raises(ArgumentError, match="wanted a position"):
        Anchor(2**62)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int8, np.float16, np.float32])
def test_numbers_are_no_mask_and_the_message_names_bias(kind):
    with pytest.raises(KindError, match="bias="):
        Allowed(np.array([[1, 0]], kind))
    with pytest.raises(TypeError, match="booleans"):
        Allowed(torch.tensor([[1, 0]]))


def test_conditions_compare_by_value_and_print_as_they_are_made():
    assert Band(None, 0, Anchor(2)) == Band(None, 0, Anchor(np.int32(2)))
    assert Band(None, 0, Anchor(2)) != Band(None, 0, None)
    assert repr(Band(3, None, Anchor(None, "end"))) == "window(3, None, align='end')"
    assert repr(Band(None, 0, None)) == "causal()"
    assert repr(Segments([0, 1], queries=[1])) == "segments([0, 1], queries=[1])"
    assert repr(Lengths(np.arange(99))) == "lengths(keys=<int64 array of shape (99,)>)"
    assert Lengths([1, 2]) == Lengths(torch.tensor([1, 2]))
    assert Segments([0]) != Segments([0], queries=[0])


def test_what_a_condition_keeps_cannot_be_changed_behind_the_back_of_a_mask():
    """Caches of one length share their mask, and a mask remembers what it meant."""
    kept = [
        Lengths([3, 4], [1, 2]).keys,
        Lengths([3, 4], [1, 2]).queries,
        Segments([0, 1]).keys,
        Anchor([0, 1]).offset,
    ]
    for array in kept:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9
