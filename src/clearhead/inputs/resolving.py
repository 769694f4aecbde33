"""A mask beside arrays of known sizes: its conditions, made the numbers of a ``ResolvedMask``."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from clearhead.errors import MaskError, ShapeError
from clearhead.inputs.conditions import (
    Allowed,
    Anchor,
    Band,
    Condition,
    Lengths,
    Segments,
    shared_anchor,
)
from clearhead.inputs.integers import most, per_sample
from clearhead.inputs.resolved import OPEN, ResolvedMask
from clearhead.inputs.segments import resolve_segments
from clearhead.inputs.shapes import broadcasts, show

__all__ = ["flat_view", "resolve_conditions"]

_Int64 = npt.NDArray[np.int64]


def resolve_conditions(
    conditions: tuple[Condition, ...],
    batch: tuple[int, ...],
    heads: int,
    queries: int,
    keys: int,
    alibi: Anchor | bool = False,
) -> ResolvedMask:
    """All ``conditions`` at once beside arrays with these axes; ``alibi`` as in ``resolve``."""
    if len(conditions) == 1 and not alibi and isinstance(conditions[0], Band):
        band, samples = conditions[0], math.prod(batch)
        offset = _one_offset(band.anchor, queries, keys)
        if offset is not None and samples <= 1024:  # causal() and window() cost a look-up
            return _plain_band(band.left, band.right, offset, samples)
    key_lengths, query_lengths = _least_lengths(conditions, batch, queries, keys)
    bands = [c for c in conditions if isinstance(c, Band)]
    anchor = None
    if bands or alibi:
        named = [band.anchor for band in bands]
        if isinstance(alibi, Anchor):
            named.append(alibi)
        shared = shared_anchor(named)
        anchor = _offsets(shared, batch, queries, keys, query_lengths, key_lengths)
    low = high = None
    if bands and anchor is not None:
        low, high = _band(bands, anchor)
    of_keys, of_queries = resolve_segments(
        [c for c in conditions if isinstance(c, Segments)], batch, queries, keys
    )
    views = [
        allowed_view(c.may_look, batch, heads, queries, keys)
        for c in conditions
        if isinstance(c, Allowed)
    ]
    return ResolvedMask(
        _fixed(low), _fixed(high), _fixed(anchor), _fixed(key_lengths), _fixed(query_lengths),
        of_keys, of_queries, _all_of(views),
    )  # fmt: skip


def allowed_view(
    may_look: npt.NDArray[np.bool_], batch: tuple[int, ...], heads: int, queries: int, keys: int
) -> npt.NDArray[np.bool_]:
    """``may_look`` as (B, H, N, M), broadcast axes with stride 0."""
    wanted = (*batch, heads, queries, keys)
    found = may_look.shape
    if 3 <= len(found) < len(wanted):
        as_samples = (*found[: len(found) - 2], 1, *found[-2:])
        as_heads = (*(1,) * (len(wanted) - len(found)), *found)
        raise ShapeError(
            f"mask: found {len(found)} axes {show(found)} beside arrays of {len(wanted)}; wanted "
            f"{show(wanted)}, or axes of 1 in their places: it could mean {show(as_samples)} (per "
            f"sample) or {show(as_heads)} (per head); reshape it to the one that is meant"
        )
    if not broadcasts(found, wanted):
        raise ShapeError(
            f"mask: found shape {show(found)}; wanted one that broadcasts to {show(wanted)} = "
            "(..., heads, queries, keys)"
        )
    view: npt.NDArray[np.bool_] = flat_view(np.broadcast_to(may_look, wanted))
    return view


def flat_view(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(..., H, N, M) as (B, H, N, M); copied where no stride can say it, broadcast axes never."""
    batch, rest = array.shape[:-3], array.shape[-3:]
    if len(batch) == 1:
        return array
    if array.size == 0:
        return np.broadcast_to(np.zeros((), array.dtype), (math.prod(batch), *rest))
    if all(s == 0 or n == 1 for n, s in zip(batch, array.strides, strict=False)):
        return np.broadcast_to(array[(0,) * len(batch)], (math.prod(batch), *rest))
    small = array[(..., *(slice(0, 1) if s == 0 else slice(None) for s in array.strides[-3:]))]
    return np.broadcast_to(
        small.reshape(math.prod(batch), *small.shape[-3:]), (math.prod(batch), *rest)
    )


def _one_offset(anchor: Anchor | None, queries: int, keys: int) -> int | None:
    """The offset where all samples share it, lengths aside; None where each has its own.

    Raises ``MaskError`` for N ≠ M where nobody says at which key query 0 stands.
    """
    if anchor is not None:
        if not anchor.plain:
            return None
        return keys - queries if anchor.offset is None else int(anchor.offset)
    if queries != keys:
        raise MaskError(
            f"mask: found {queries} queries beside {keys} keys and no anchor; wanted to know "
            "at which key query 0 stands; say offset=0 (at the first key) or align='end' (the last "
            "query at the last key, as with a cache) in causal, window or alibi"
        )
    return 0


def _offsets(
    anchor: Anchor | None,
    batch: tuple[int, ...],
    queries: int,
    keys: int,
    query_lengths: _Int64 | None,
    key_lengths: _Int64 | None,
) -> _Int64:
    """Per sample the key at which query 0 stands, (B,); ``align="end"`` counts what is valid."""
    if anchor is not None and anchor.offset is not None:
        return per_sample(anchor.offset, batch, "offset")
    one = _one_offset(anchor, queries, keys)
    valid_keys = keys if key_lengths is None else key_lengths
    valid_queries = queries if query_lengths is None else query_lengths
    offsets = valid_keys - valid_queries
    if anchor is None or isinstance(offsets, int):
        return np.full(math.prod(batch), one, np.int64)
    return offsets


def _band(bands: list[Band], anchor: _Int64) -> tuple[_Int64, _Int64]:
    """The intersection of all bands, with the anchor in it."""
    left = min([b.left for b in bands if b.left is not None], default=None)
    right = min([b.right for b in bands if b.right is not None], default=None)
    low = _open(anchor.size, -OPEN) if left is None else anchor - min(left, OPEN // 2)
    high = _open(anchor.size, OPEN) if right is None else anchor + min(right, OPEN // 2)
    return low, high


@lru_cache(maxsize=64)
def _open(samples: int, end: int) -> _Int64:
    return np.full(samples, end, np.int64)


@lru_cache(maxsize=64)
def _plain_band(left: int | None, right: int | None, offset: int, samples: int) -> ResolvedMask:
    """One band with one offset for all samples; remembered, so that causal() costs a look-up."""
    anchor = np.full(samples, offset, np.int64)
    low, high = _band([Band(left, right, None)], anchor)
    return ResolvedMask(_fixed(low), _fixed(high), _fixed(anchor))


def _least_lengths(
    conditions: tuple[Condition, ...], batch: tuple[int, ...], queries: int, keys: int
) -> tuple[_Int64 | None, _Int64 | None]:
    """Per sample the valid keys and queries; several ``lengths`` meet in the smaller."""
    given = [c for c in conditions if isinstance(c, Lengths)]
    return (
        _least([c.keys for c in given], batch, "keys", keys),
        _least([c.queries for c in given], batch, "queries", queries),
    )


def _least(given: list[Any], batch: tuple[int, ...], name: str, axis: int) -> _Int64 | None:
    """The smallest of the lengths ``given`` for an axis, per sample; None where nobody says any."""
    smallest: _Int64 | None = None
    for one in given:
        if one is None:
            continue
        found = per_sample(one, batch, f"lengths({name})")
        if most(found) > axis:
            raise MaskError(
                f"lengths({name}): found {most(found)}; wanted at most {axis}, the number of "
                f"{name} that there are; check that the lengths belong to these arrays"
            )
        smallest = found if smallest is None else np.minimum(smallest, found)
    return smallest


def _all_of(views: list[npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_] | None:
    if len(views) < 2:
        return views[0] if views else None
    shape = views[0].shape
    small = [v[tuple(slice(0, 1) if not s else slice(None) for s in v.strides)] for v in views]
    both = small[0]
    for view in small[1:]:
        both = both & view
    return np.broadcast_to(both, shape)


def _fixed(array: _Int64 | None) -> _Int64 | None:
    if array is not None:
        array = np.ascontiguousarray(array)
        array.setflags(write=False)
    return array
