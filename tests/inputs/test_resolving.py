"""The dense form of random masks against a loop over every pair that reads the rules one by one."""

from dataclasses import fields
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearhead as ch
from clearhead.inputs.conditions import Allowed, Band, Condition, Lengths, Segments
from clearhead.inputs.masks import resolve
from clearhead.inputs.resolved import CONDITIONS, OPEN, ResolvedMask
from clearhead.inputs.resolving import flat_view

small = st.integers(0, 6)
bounds = st.one_of(st.none(), st.integers(0, 5))


@st.composite
def described(draw):
    """A mask and the numbers it was made of."""
    batch = draw(st.sampled_from([(), (1,), (2,), (2, 2), (0,)]))
    queries, keys, heads = draw(small), draw(small), draw(st.integers(1, 3))
    samples = int(np.prod(batch, dtype=int))
    said = {"batch": batch, "queries": queries, "keys": keys, "heads": heads, "samples": samples}
    mask = None

    def join(part):
        return part if mask is None else mask & part

    def each(least, most):
        numbers = [draw(st.integers(least, most)) for _ in range(samples)]
        return np.array(numbers, int).reshape(batch)

    if draw(st.booleans()):
        said["key_lengths"] = each(0, keys)
        said["query_lengths"] = each(0, queries) if draw(st.booleans()) else None
        mask = join(ch.lengths(keys=said["key_lengths"], queries=said["query_lengths"]))
    if draw(st.booleans()):
        left, right = draw(bounds), draw(bounds)
        offset = draw(st.one_of(st.none(), st.integers(-4, 4)))
        said["band"] = (left, right, offset)
        mask = join(
            ch.window(left, right, align="end")
            if offset is None
            else ch.window(left, right, offset=offset)
        )
    if draw(st.booleans()):
        said["segments"] = tuple(
            np.array([draw(st.integers(-1, 2)) for _ in range(samples * length)], int).reshape(
                *batch, length
            )
            for length in (keys, queries)
        )
        mask = join(ch.segments(*said["segments"]))
    if draw(st.booleans()):
        full = (*batch, heads, queries, keys)
        shape = [n if draw(st.booleans()) else 1 for n in full]
        said["allowed"] = np.random.default_rng(draw(small)).random(shape) < 0.6
        mask = join(ch.allowed(said["allowed"]))
    return mask, said


def may_look(said, b, h, i, j):
    """What docs/inputs.md says of one pair, by the numbers alone."""
    batch, queries, keys = said["batch"], said["queries"], said["keys"]
    at = np.unravel_index(b, batch) if batch else ()
    valid_keys, valid_queries = keys, queries
    if "key_lengths" in said:
        valid_keys = said["key_lengths"][at]
        if said["query_lengths"] is not None:
            valid_queries = said["query_lengths"][at]
    fine = j < valid_keys and i < valid_queries
    if "band" in said:
        left, right, offset = said["band"]
        stands = i + (valid_keys - valid_queries if offset is None else offset)
        fine &= (left is None or j >= stands - left) and (right is None or j <= stands + right)
    if "segments" in said:
        of_key, of_query = said["segments"][0][at][j], said["segments"][1][at][i]
        fine &= of_key == of_query and of_key != -1
    if "allowed" in said:
        full = np.broadcast_to(said["allowed"], (*batch, said["heads"], queries, keys))
        fine &= full[(*at, h, i, j)]
    return bool(fine)


def test_every_kind_of_condition_is_in_this_loop():
    """A new one needs a branch in ``described`` and a rule in ``may_look``."""
    assert set(get_args(Condition)) == {Lengths, Band, Segments, Allowed}


@settings(max_examples=300, deadline=None)
@given(described())
def test_dense_form_is_what_the_rules_say_of_every_pair(case):
    mask, said = case
    sizes = (said["heads"], said["queries"], said["keys"])
    found = resolve(mask, said["batch"], *sizes).dense(said["queries"], said["keys"])
    found = np.broadcast_to(found, (said["samples"], *sizes))
    for b, h, i, j in np.ndindex(*found.shape):
        assert found[b, h, i, j] == may_look(said, b, h, i, j), (b, h, i, j)


@settings(max_examples=200, deadline=None)
@given(described())
def test_resolved_numbers_have_the_promised_form(case):
    mask, said = case
    resolved = resolve(mask, said["batch"], said["heads"], said["queries"], said["keys"])
    samples = said["samples"]
    for name in ("low", "high", "anchor", "key_lengths", "query_lengths"):
        numbers = getattr(resolved, name)
        if numbers is not None:
            assert (numbers.shape, numbers.dtype) == ((samples,), np.int64)
            assert numbers.flags.c_contiguous
            assert not numbers.flags.writeable
            assert not numbers.size or np.abs(numbers).max() <= OPEN
    assert (resolved.low is None) == (resolved.high is None)
    assert (resolved.key_segments is None) == (resolved.query_segments is None)
    for name, length in (("key_segments", said["keys"]), ("query_segments", said["queries"])):
        ids = getattr(resolved, name)
        if ids is not None:
            assert (ids.shape, ids.dtype) == ((samples, length), np.int32)
            assert ids.flags.c_contiguous
    if resolved.allowed is not None:
        assert resolved.allowed.shape == (samples, said["heads"], said["queries"], said["keys"])
    assert resolved.everything == (mask is None)


def test_every_condition_is_counted_by_itself():
    """Also one that is added tomorrow: nothing lists the fields by hand."""
    assert "allowed" in CONDITIONS
    assert {f.name for f in fields(ResolvedMask)} - set(CONDITIONS) == {"anchor"}
    for name in CONDITIONS:
        mask = ResolvedMask(**{name: np.zeros(1, np.int64)})
        assert not mask.everything
        assert [other for other in CONDITIONS if mask.only(other)] == [name]
        assert mask.only(*CONDITIONS)
    assert ResolvedMask(anchor=np.zeros(1, np.int64)).everything


@pytest.mark.parametrize("strides", ["plain", "backward", "broadcast"])
def test_two_batch_axes_become_one_without_copying_broadcast_ones(strides):
    array = np.random.default_rng(0).random((2, 3, 1, 5, 7)) < 0.5
    if strides == "backward":
        array = array[::-1, :, :, ::-1]
    if strides == "broadcast":
        array = np.broadcast_to(array[:1, :1], (2, 3, 1, 5, 7))
    wide = np.broadcast_to(array, (2, 3, 400, 5, 7))
    flat = flat_view(wide)
    assert flat.shape == (6, 400, 5, 7)
    assert flat.strides[1] == 0
    assert (flat == wide.reshape(6, 400, 5, 7)).all()
    if strides == "broadcast":
        assert flat.strides[0] == 0
