import numpy as np
import pytest

from clearhead.errors import MemoryLimitError, ShapeError
from clearhead.inputs import shapes


def arrays(*sizes):
    return [np.zeros(size, np.float32) for size in sizes]


def test_sizes_of_grouped_heads_with_two_batch_axes():
    found = shapes.sizes(*arrays((2, 3, 8, 5, 4), (2, 3, 2, 7, 4), (2, 3, 2, 7, 6)))
    assert found == shapes.Sizes((2, 3), 8, 2, 5, 7, 4, 6)
    assert (found.samples, found.group, found.scores) == (6, 4, (2, 3, 8, 5, 7))


def test_no_batch_axis_is_one_sample():
    assert shapes.sizes(*arrays((1, 5, 4), (1, 7, 4), (1, 7, 4))).samples == 1


@pytest.mark.parametrize(
    ("query", "key", "value", "text"),
    [
        ((5, 4), (7, 4), (7, 4), r"at least three: \(..., heads, positions, width\)"),
        ((1, 1, 5, 4), (1, 7, 4), (1, 7, 4), "the same number of axes"),
        ((1, 5, 4), (1, 7, 4), (1, 8, 4), "one value for each key"),
        ((2, 5, 4), (1, 7, 4), (2, 7, 4), "one value for each key"),
        ((1, 5, 4), (1, 7, 5), (1, 7, 4), "found width 5 .* the query's width 4"),
        ((2, 1, 5, 4), (1, 1, 7, 4), (1, 1, 7, 4), r"found batch axes \(1,\).*broadcast_to"),
        ((3, 5, 4), (2, 7, 4), (2, 7, 4), "found 3 and 2 .* a multiple of 2"),
        ((2, 5, 4), (4, 7, 4), (4, 7, 4), "found 2 and 4 .* a multiple of 4"),
        ((2, 5, 4), (0, 7, 4), (0, 7, 4), "found 2 and 0 .* wanted at least one key head"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_shapes(query, key, value, text):
    with pytest.raises(ShapeError, match=text):
        shapes.sizes(*arrays(query, key, value))


def test_errors_are_value_errors_too():
    with pytest.raises(ValueError, match="same number of axes"):
        shapes.sizes(*arrays((1,), (1,), (1,)))


def test_broadcasting_is_aligned_from_the_right():
    assert shapes.broadcasts((1, 7), (2, 3, 5, 7))
    assert shapes.broadcasts((), (2, 3))
    assert not shapes.broadcasts((2, 1), (3, 5))
    assert not shapes.broadcasts((1, 1, 1), (3, 5))


def test_what_cannot_fit_in_memory_is_refused_before_it_is_tried():
    shapes.fits_in_memory(1000, "weights")
    with pytest.raises(MemoryLimitError, match=r"weights: found a request of .* GiB") as error:
        shapes.fits_in_memory(1 << 60, "weights")
    assert isinstance(error.value, MemoryError)
