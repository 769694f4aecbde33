import copy
import pickle

import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.errors import KindError, MaskError, ShapeError
from clearhead.inputs.masks import Mask, resolve


def dense(mask, queries, keys, batch=(1,), heads=1, **kwargs):
    """The mask as 0 and 1 of the first head: (B, N, M), without B where it is 1."""
    found = resolve(mask, batch, heads, queries, keys, **kwargs).dense(queries, keys)[:, 0]
    return found.astype(int).tolist() if found.shape[0] > 1 else found[0].astype(int).tolist()


def test_causal_beside_as_many_keys_begins_at_the_first():
    assert dense(ch.causal(), 3, 3) == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


@pytest.mark.parametrize("mask", [ch.causal(), ch.window(2, 2), ch.window(None, 0) & ch.causal()])
def test_without_an_anchor_another_number_of_keys_is_refused_naming_both_choices(mask):
    with pytest.raises(MaskError) as error:
        resolve(mask, (1,), 1, 2, 4)
    assert "offset=0" in str(error.value)
    assert "align='end'" in str(error.value)


def test_offset_and_alignment_are_taken_at_their_word():
    assert dense(ch.causal(offset=0), 2, 4) == [[1, 0, 0, 0], [1, 1, 0, 0]]
    assert dense(ch.causal(align="end"), 2, 4) == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert dense(ch.causal(align="end"), 4, 2) == [[0, 0], [0, 0], [1, 0], [1, 1]]
    assert dense(ch.causal(offset=-1), 2, 2) == [[0, 0], [1, 0]]
    assert dense(ch.causal(offset=[0, 1]), 2, 2, batch=(2,)) == [[[1, 0], [1, 1]], [[1, 1], [1, 1]]]


def test_alignment_to_the_end_counts_valid_keys_and_queries():
    mask = ch.lengths(keys=[3, 2], queries=[2, 1]) & ch.causal(align="end")
    assert dense(mask, 2, 4, batch=(2,)) == [
        [[1, 1, 0, 0], [1, 1, 1, 0]],
        [[1, 1, 0, 0], [0, 0, 0, 0]],
    ]


def test_a_window_does_not_count_the_position_itself_and_none_is_open():
    assert dense(ch.window(1, 0), 3, 3) == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    assert dense(ch.window(0, 0), 2, 2) == [[1, 0], [0, 1]]
    assert dense(ch.window(None, 1), 3, 3) == [[1, 1, 0], [1, 1, 1], [1, 1, 1]]
    assert dense(ch.window(0, None), 2, 2) == [[1, 1], [0, 1]]
    assert dense(ch.window(10**30, 0), 2, 2) == [[1, 0], [1, 1]]


def test_several_bands_meet_in_the_narrowest():
    assert dense(ch.window(2, 2) & ch.window(1, None) & ch.causal(), 3, 3) == dense(
        ch.window(1, 0), 3, 3
    )


def test_what_has_no_anchor_takes_the_one_it_is_joined_with():
    joined = ch.causal() & ch.window(1, 1, align="end")
    assert dense(joined, 2, 4) == [[0, 1, 1, 0], [0, 0, 1, 1]]
    assert ch.causal(offset=2) & ch.window(1, None, offset=2)


def test_two_different_anchors_are_refused_where_they_are_joined():
    with pytest.raises(MaskError, match=r"two anchors, offset=0 and align='end'"):
        ch.causal(offset=0) & ch.window(1, 1, align="end")
    with pytest.raises(MaskError, match="offset=1 and offset=2"):
        ch.causal(offset=1) & ch.lengths(keys=3) & ch.causal(offset=2)


def test_lengths_count_from_the_start_per_sample_or_for_all():
    assert dense(ch.lengths(keys=[1, 0]), 1, 2, batch=(2,)) == [[[1, 0]], [[0, 0]]]
    assert dense(ch.lengths(queries=1), 2, 2) == [[1, 1], [0, 0]]
    both = resolve(ch.lengths(keys=1), (2, 2), 1, 1, 2)
    assert both.key_lengths.tolist() == [1, 1, 1, 1]
    per_sample = resolve(ch.lengths(keys=[[1, 2], [0, 1]]), (2, 2), 1, 1, 2)
    assert per_sample.key_lengths.tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize(
    ("mask", "error", "text"),
    [
        (ch.lengths(keys=[3, 5]), MaskError, "found 5; wanted at most 4"),
        (ch.lengths(queries=4), MaskError, r"lengths\(queries\): found 4; wanted at most 3"),
        (ch.lengths(keys=[3]), ShapeError, r"found shape \(1,\); wanted the batch axes \(2,\)"),
        (ch.lengths(keys=[[3, 3]]), ShapeError, r"found shape \(1, 2\)"),
        (ch.segments([0, 0, 1, 1]), MaskError, r"segments\(keys, queries=...\)"),
        (
            ch.segments([0, 1], queries=[0, 0, 1]),
            ShapeError,
            r"segments\(keys\): found shape \(2,\)",
        ),
        (ch.segments([0] * 4, queries=[0] * 4), ShapeError, r"segments\(queries\)"),
        (ch.segments(np.zeros((3, 4), int), queries=[0] * 3), ShapeError, r"\(4,\), \(2, 4\)"),
        (ch.causal(offset=[1, 2, 3]), ShapeError, r"offset: found shape \(3,\)"),
    ],
)
def test_descriptions_that_contradict_the_arrays_are_refused(mask, error, text):
    with pytest.raises(error, match=text):
        resolve(mask, (2,), 2, 3, 4)


def test_segments_meet_their_own_and_padding_meets_nothing():
    assert dense(ch.segments([0, 0, 1, -1]), 4, 4) == [
        [1, 1, 0, 0],
        [1, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 0],
    ]
    assert dense(ch.segments([7, -1, 9], queries=[9, -1]), 2, 3) == [[0, 0, 1], [0, 0, 0]]
    rows = ch.segments(np.array([[0, 1], [1, 1]]))
    assert dense(rows, 2, 2, batch=(2,)) == [[[1, 0], [0, 1]], [[1, 1], [1, 1]]]


def test_segment_ids_may_be_larger_than_32_bits():
    assert dense(ch.segments([2**40, 5, -1], queries=[5, 2**40, -1]), 3, 3) == [
        [0, 1, 0], [1, 0, 0], [0, 0, 0],
    ]  # fmt: skip


def test_two_segmentations_must_both_agree():
    both = ch.segments([0, 0, 1, 1]) & ch.segments([0, 1, 1, -1])
    assert dense(both, 4, 4) == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]


def test_a_boolean_array_is_a_mask_wherever_one_is_wanted():
    array = np.array([[True, False, True]])
    assert dense(array, 2, 3) == [[1, 0, 1], [1, 0, 1]]
    assert dense(ch.lengths(keys=2) & array, 1, 3) == [[1, 0, 0]]
    assert dense(array & ch.lengths(keys=2), 1, 3) == [[1, 0, 0]]
    assert dense(ch.lengths(keys=2) & torch.tensor(array), 1, 3) == [[1, 0, 0]]
    assert dense(torch.tensor([True, False]), 1, 2) == [[1, 0]]


def test_several_arrays_are_one_and_stay_small():
    over_keys = np.array([True, True, False]).reshape(1, 1, 1, 3)
    over_samples = np.array([True, False]).reshape(2, 1, 1, 1)
    found = resolve(ch.allowed(over_keys) & over_samples, (2,), 500, 400, 3)
    assert found.allowed.shape == (2, 500, 400, 3)
    assert found.allowed.strides[1:3] == (0, 0)
    assert found.dense(400, 3)[:, 0, 0].astype(int).tolist() == [[1, 1, 0], [0, 0, 0]]


def test_three_axes_beside_four_are_refused_showing_both_readings():
    with pytest.raises(ShapeError) as error:
        resolve(np.ones((2, 3, 4), bool), (2,), 2, 3, 4)
    assert "(2, 1, 3, 4) (per sample)" in str(error.value)
    assert "(1, 2, 3, 4) (per head)" in str(error.value)


def test_a_mask_that_does_not_broadcast_is_refused():
    with pytest.raises(ShapeError, match=r"found shape \(3, 5\); .* to \(2, 2, 3, 4\)"):
        resolve(np.ones((3, 5), bool), (2,), 2, 3, 4)


def test_numbers_are_refused_and_bias_is_named():
    with pytest.raises(KindError, match="bias="):
        resolve(np.zeros((3, 4)), (2,), 2, 3, 4)
    with pytest.raises(KindError, match="found str"):
        resolve("causal", (2,), 2, 3, 4)


def test_alibi_shares_the_anchor_of_the_mask():
    alone = ch.alibi([1.0], align="end").anchor
    assert resolve(None, (2,), 1, 2, 5, alibi=alone).anchor.tolist() == [3, 3]
    assert resolve(ch.causal(align="end"), (1,), 1, 2, 5, alibi=True).anchor.tolist() == [3]
    assert resolve(ch.causal(), (1,), 1, 2, 5, alibi=alone).high.tolist() == [3]
    with pytest.raises(MaskError, match="two anchors"):
        resolve(ch.causal(offset=0), (1,), 1, 2, 5, alibi=alone)
    with pytest.raises(MaskError, match="no anchor"):
        resolve(None, (1,), 1, 2, 5, alibi=True)


MASKS = [
    ch.causal(),
    ch.causal(align="end"),
    ch.window(3, None, offset=-2),
    ch.lengths(keys=[7, 12]) & ch.causal(align="end"),
    ch.segments(np.arange(6) // 2),
    ch.allowed(np.eye(3, dtype=bool)),
]


@pytest.mark.parametrize("mask", MASKS, ids=repr)
def test_a_copy_or_a_pickle_is_the_same_mask(mask):
    for other in (copy.copy(mask), copy.deepcopy(mask), pickle.loads(pickle.dumps(mask))):
        assert type(other) is Mask
        assert other == mask
        assert repr(other) == repr(mask)


@pytest.mark.parametrize("mask", MASKS[:4], ids=repr)
def test_a_mask_prints_as_what_makes_it(mask):
    names = ("causal", "window", "lengths")
    assert eval(repr(mask), {name: getattr(ch, name) for name in names}) == mask


def test_a_mask_cannot_be_changed():
    with pytest.raises(AttributeError):
        ch.causal().conditions = ()
    with pytest.raises(ValueError, match="read-only"):
        resolve(ch.causal(), (1,), 1, 3, 3).low[0] = 1


def test_a_plain_causal_mask_is_remembered_and_not_built_again():
    first = resolve(ch.causal(), (4,), 8, 16, 16)
    assert resolve(ch.causal(), (4,), 2, 16, 16) is first


def test_a_mask_remembers_what_it_was_last_and_nothing_else():
    mask = ch.lengths(keys=[2, 3]) & ch.causal(align="end")
    first = resolve(mask, (2,), 4, 3, 3)
    assert resolve(mask, (2,), 4, 3, 3) is first
    assert resolve(mask, (2,), 4, 1, 3).high.tolist() == [1, 2]
    assert resolve(mask, (2,), 4, 3, 3, True).high.tolist() == first.high.tolist()
    assert vars(copy.copy(mask)).keys() == {"conditions"}


def test_a_boolean_array_is_read_anew():
    array = np.ones((2, 3), bool)
    mask = ch.allowed(array) & ch.allowed(np.ones((2, 3), bool))
    assert resolve(mask, (1,), 1, 2, 3).dense(2, 3).all()
    array[1, 2] = False
    assert not resolve(mask, (1,), 1, 2, 3).dense(2, 3)[0, 0, 1, 2]


def test_lengths_are_those_of_the_time_they_were_given():
    given = np.array([2, 3])
    mask = ch.lengths(keys=given)
    given[:] = 1
    assert resolve(mask, (2,), 1, 3, 3).key_lengths.tolist() == [2, 3]
