import numpy as np

from clearhead.inputs.conditions import Segments
from clearhead.inputs.segments import resolve_segments


def test_nothing_asked_is_nothing_given():
    assert resolve_segments([], (2,), 3, 3) == (None, None)


def test_ids_of_all_samples_are_written_out_for_each():
    keys, queries = resolve_segments([Segments([0, 0, 1], [1, 0])], (2, 2), 2, 3)
    assert keys.tolist() == [[0, 0, 1]] * 4
    assert queries.tolist() == [[1, 0]] * 4


def test_small_ids_are_kept_and_large_ones_renumbered():
    keys, queries = resolve_segments([Segments([5, -1])], (1,), 2, 2)
    assert keys.tolist() == queries.tolist() == [[5, -1]]
    keys, queries = resolve_segments([Segments([2**50, -1, 3])], (1,), 3, 3)
    assert keys.dtype == np.int32
    assert keys[0, 0] == queries[0, 0] != keys[0, 2]
    assert keys[0, 1] == -1


def test_two_conditions_become_pairs():
    pair = [Segments([0, 0, 1, 1]), Segments([0, 1, 0, -1])]
    keys, queries = resolve_segments(pair, (1,), 4, 4)
    assert len(set(keys[0, :3].tolist())) == 3
    assert keys[0, 3] == -1
    assert (keys == queries).all()
