"""The sinusoidal positions."""

import numpy as np
import pytest

from clearhead.layer.positions import sinusoid


def test_it_is_the_formula():
    found = sinusoid(50, 8)
    for position in (0, 1, 7, 49):
        for i in range(4):
            angle = position / 10000 ** (2 * i / 8)
            assert found[position, 2 * i] == pytest.approx(np.sin(angle), abs=1e-7)
            assert found[position, 2 * i + 1] == pytest.approx(np.cos(angle), abs=1e-7)


def test_a_start_is_a_cut_out_of_the_whole_also_where_the_table_grows():
    whole = sinusoid(2000, 6)
    np.testing.assert_array_equal(sinusoid(3, 6, start=511), whole[511:514])
    np.testing.assert_array_equal(sinusoid(1, 6, start=1999), whole[1999:])


def test_the_shared_table_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        sinusoid(3, 4)[0, 0] = 1
