"""Masks as descriptions: who may look at whom, said once and combined with ``&``.

A ``Mask`` is a tuple of conditions; a query may look at a key where all of them hold. ``resolve``
turns it into the plain numbers that both the judge and the kernels read: ``ResolvedMask``.

Adding a kind of mask: a condition beside the four in ``conditions.py``, a function below that makes
a ``Mask`` of it, and its place in ``resolve``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from clearhead.errors import MaskError
from clearhead.inputs.arrays import Array
from clearhead.inputs.conditions import (
    Allowed,
    Anchor,
    Band,
    Condition,
    Lengths,
    Segments,
    allowed_view,
    per_sample,
)
from clearhead.inputs.segments import resolve_segments
from clearhead.inputs.shapes import broadcasts, show

__all__ = [
    "OPEN",
    "Mask",
    "ResolvedMask",
    "allowed",
    "causal",
    "lengths",
    "resolve",
    "segments",
    "window",
]

OPEN = 2**62
"""The open end of a band: ``low`` is −OPEN, ``high`` is OPEN."""

_Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Mask:
    """Conditions on who may look at whom, all of which must hold. Made by the functions below.

    >>> causal(align="end") & lengths(keys=[7, 12])
    causal(align='end') & lengths(keys=[7, 12])
    """

    conditions: tuple[Condition, ...] = ()

    def __and__(self, other: Any) -> Mask:
        """Their intersection. Raises ``MaskError`` for two different anchors."""
        if not isinstance(other, Mask):
            other = allowed(other)
        both = Mask(self.conditions + other.conditions)
        both.anchor  # noqa: B018  raises where the two contradict each other
        return both

    __rand__ = __and__
    __array_ufunc__ = None  # array & mask comes to __rand__, not to every element

    @property
    def anchor(self) -> Anchor | None:
        """The one anchor that its conditions share; None where none of them names one."""
        return shared_anchor([c.anchor for c in self.conditions if isinstance(c, Band)])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mask):
            return NotImplemented
        return self.conditions == other.conditions

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __repr__(self) -> str:
        return " & ".join(map(repr, self.conditions)) or "Mask()"


_CAUSAL = Mask((Band(None, 0, None),))


def causal(offset: Array | int | None = None, align: str | None = None) -> Mask:
    """Query i may look at key j where j ≤ i + offset.

    ``align="end"`` sets offset = keys − queries (with ``lengths``: valid keys − valid queries, per
    sample), so that the last query sees the last key, as when decoding with a cache. With neither
    the offset is 0, and N ≠ M is refused, because both readings are in use. ``offset=0`` is taken
    at its word; an array of the batch axes' shape gives one offset per sample.

    >>> resolve(causal(), (1,), 1, 3, 3).dense(3, 3)[0, 0].astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    if offset is None and align is None:
        return _CAUSAL
    return Mask((Band(None, 0, Anchor(offset, align)),))


def window(
    left: int | None,
    right: int | None,
    offset: Array | int | None = None,
    align: str | None = None,
) -> Mask:
    """Query i may look at key j where i + offset − left ≤ j ≤ i + offset + right.

    The position itself is not counted, so ``window(1, 0)`` sees two keys. None leaves that side
    open.
    ``offset`` and ``align`` as in ``causal``.

    >>> resolve(window(1, 0), (1,), 1, 3, 3).dense(3, 3)[0, 0].astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    anchor = None if offset is None and align is None else Anchor(offset, align)
    return Mask((Band(left, right, anchor),))


def lengths(keys: Array | None = None, queries: Array | None = None) -> Mask:
    """Only the first ``keys`` keys and the first ``queries`` queries of each sample are valid.

    Integers of the batch axes' shape (list, NumPy array or torch tensor), or one number for every
    sample. A query at or beyond its length looks at nothing.

    >>> lengths(keys=[7, 12])
    lengths(keys=[7, 12])
    """
    return Mask((Lengths(keys, queries),))


def segments(keys: Array, queries: Array | None = None) -> Mask:
    """Query i may look at key j where both have the same segment id; −1, padding, meets nothing.

    Integer ids of shape (M,) or (..., M) with the batch axes in front. ``queries`` has the ids of
    the queries, (N,) or (..., N), and may be left out where N = M and both are the same positions.

    >>> resolve(segments([0, 0, -1]), (1,), 1, 3, 3).dense(3, 3)[0, 0].astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 0]])
    """
    return Mask((Segments(keys, queries),))


def allowed(boolean_array: Array) -> Mask:
    """Query i may look at key j where the array is True; it broadcasts to (..., H, N, M).

    Integers and floats are refused: numbers that are added to the scores go to ``bias=``.

    >>> allowed(np.ones((1, 4), bool))
    allowed(bool array of shape (1, 4))
    """
    return Mask((Allowed(boolean_array),))


@dataclass(frozen=True, eq=False)
class ResolvedMask:
    """A mask beside arrays of known sizes, as plain NumPy data. None means: no such condition.

    Query i of head h of sample b (b counts the batch axes in row-major order) may look at key j
    where **all** of these hold; each is skipped where its field is None:

    ==================  ===================  =====================================================
    field               shape, kind          condition
    ==================  ===================  =====================================================
    ``low``, ``high``   (B,) int64           i + low[b] ≤ j ≤ i + high[b]; −2**62, 2**62 are open
    ``key_lengths``     (B,) int64           j < key_lengths[b], which is in 0 … M
    ``query_lengths``   (B,) int64           i < query_lengths[b], which is in 0 … N
    ``key_segments``    (B, M) int32         key_segments[b, j] == query_segments[b, i] and not −1;
    ``query_segments``  (B, N) int32         both are given or neither
    ``allowed``         (B, H, N, M) bool    allowed[b, h, i, j]; any strides, 0 where broadcast
    ==================  ===================  =====================================================

    ``low`` and ``high`` have the anchor in them already and are both given or both None; every
    value is within ±2**62, so adding a position cannot overflow. ``anchor`` (B,) int64 is the
    offset of alibi, −slope · |i + anchor[b] − j|; it is given where a band or alibi asked for it.
    Arrays of one value per sample and the segments are C-contiguous and read-only; the mask may be
    shared between calls.
    """

    low: _Int64 | None = None
    high: _Int64 | None = None
    anchor: _Int64 | None = None
    key_lengths: _Int64 | None = None
    query_lengths: _Int64 | None = None
    key_segments: npt.NDArray[np.int32] | None = None
    query_segments: npt.NDArray[np.int32] | None = None
    allowed: npt.NDArray[np.bool_] | None = None

    @property
    def everything(self) -> bool:
        """Whether every query may look at every key: nothing is masked."""
        return (
            self.low is None
            and self.key_lengths is None
            and self.query_lengths is None
            and self.key_segments is None
            and self.allowed is None
        )

    def dense(self, queries: int, keys: int) -> npt.NDArray[np.bool_]:
        """True where query i may look at key j: (B or 1, H or 1, N, M), 1 where all agree."""
        i = np.arange(queries)[:, None]
        j = np.arange(keys)
        may = np.ones((1, 1, queries, keys), np.bool_)
        if self.low is not None and self.high is not None:
            low, high = self.low[:, None, None, None], self.high[:, None, None, None]
            may = may & (i + low <= j) & (j <= i + high)
        if self.key_lengths is not None:
            may = may & (j < self.key_lengths[:, None, None, None])
        if self.query_lengths is not None:
            may = may & (i < self.query_lengths[:, None, None, None])
        if self.key_segments is not None and self.query_segments is not None:
            of_query = self.query_segments[:, None, :, None]
            of_key = self.key_segments[:, None, None, :]
            may = may & (of_query == of_key) & (of_key != -1)
        if self.allowed is not None:
            may = may & (self.allowed if self.allowed.strides[1] else self.allowed[:, :1])
        return may


_EVERYTHING = ResolvedMask()


def resolve(
    mask: Mask | Array | None,
    batch: tuple[int, ...],
    heads: int,
    queries: int,
    keys: int,
    alibi: Anchor | bool = False,
) -> ResolvedMask:
    """``mask`` beside arrays with these axes.

    ``alibi`` is False without alibi, True for one with no anchor of its own, or its ``Anchor``.
    Raises
    ``MaskError``, ``ShapeError`` or ``KindError`` for what cannot be meant, before anything runs.
    """
    if mask is None:
        if not alibi:
            return _EVERYTHING
        mask = Mask()
    elif not isinstance(mask, Mask):
        mask = allowed(mask)
    samples = math.prod(batch)
    if len(mask.conditions) == 1 and not alibi:  # causal() and window() cost a look-up
        only = mask.conditions[0]
        if isinstance(only, Band) and samples <= 1024:
            if only.anchor is None:
                _bare_anchor_fits(queries, keys)
                return _plain_band(only.left, only.right, 0, samples)
            if only.anchor.plain:
                offset = keys - queries if only.anchor.offset is None else only.anchor.offset
                return _plain_band(only.left, only.right, int(offset), samples)

    key_lengths, query_lengths = _least_lengths(mask, batch, queries, keys)
    bands = [c for c in mask.conditions if isinstance(c, Band)]
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
        [c for c in mask.conditions if isinstance(c, Segments)], batch, queries, keys
    )
    views = [
        allowed_view(c.may_look, batch, heads, queries, keys)
        for c in mask.conditions
        if isinstance(c, Allowed)
    ]
    return ResolvedMask(
        _fixed(low), _fixed(high), _fixed(anchor), _fixed(key_lengths), _fixed(query_lengths),
        of_keys, of_queries, _all_of(views),
    )  # fmt: skip


def shared_anchor(anchors: list[Anchor | None]) -> Anchor | None:
    """The one anchor among them; None where nobody names one, ``MaskError`` where two differ."""
    named = [anchor for anchor in anchors if anchor is not None]
    for other in named[1:]:
        if other != named[0]:
            raise MaskError(
                f"mask: found two anchors, {named[0]} and {other}; wanted one, since causal, "
                "window and alibi place query i at the same key; name it once and leave it out of "
                "the other"
            )
    return named[0] if named else None


def _bare_anchor_fits(queries: int, keys: int) -> None:
    if queries != keys:
        raise MaskError(
            f"mask: found {queries} queries beside {keys} keys and no anchor; wanted to know "
            "at which key query 0 stands; say offset=0 (at the first key) or align='end' (the last "
            "query at the last key, as with a cache) in causal, window or alibi"
        )


def _offsets(
    anchor: Anchor | None,
    batch: tuple[int, ...],
    queries: int,
    keys: int,
    query_lengths: _Int64 | None,
    key_lengths: _Int64 | None,
) -> _Int64:
    samples = math.prod(batch)
    if anchor is None:
        _bare_anchor_fits(queries, keys)
        return np.zeros(samples, np.int64)
    if anchor.offset is not None:
        return per_sample(anchor.offset, batch, "offset")
    valid_keys = np.full(samples, keys, np.int64) if key_lengths is None else key_lengths
    valid_queries = np.int64(queries) if query_lengths is None else query_lengths
    return np.asarray(valid_keys - valid_queries, np.int64)


def _band(bands: list[Band], anchor: _Int64) -> tuple[_Int64, _Int64]:
    """The intersection of all bands, with the anchor in it."""
    left = min((b.left for b in bands if b.left is not None), default=None)
    right = min((b.right for b in bands if b.right is not None), default=None)
    low = np.full_like(anchor, -OPEN) if left is None else anchor - min(left, OPEN // 2)
    high = np.full_like(anchor, OPEN) if right is None else anchor + min(right, OPEN // 2)
    return low, high


@lru_cache(maxsize=64)
def _plain_band(left: int | None, right: int | None, offset: int, samples: int) -> ResolvedMask:
    anchor = np.full(samples, offset, np.int64)
    low, high = _band([Band(left, right, None)], anchor)
    return ResolvedMask(_fixed(low), _fixed(high), _fixed(anchor))


def _least_lengths(
    mask: Mask, batch: tuple[int, ...], queries: int, keys: int
) -> tuple[_Int64 | None, _Int64 | None]:
    """Per sample the valid keys and queries; several ``lengths`` meet in the smaller."""
    least: list[_Int64 | None] = [None, None]
    for condition in mask.conditions:
        if not isinstance(condition, Lengths):
            continue
        for side, (name, given, axis) in enumerate(
            (("keys", condition.keys, keys), ("queries", condition.queries, queries))
        ):
            if given is None:
                continue
            found = per_sample(given, batch, f"lengths({name})")
            if found.size and int(found.max()) > axis:
                raise MaskError(
                    f"lengths({name}): found {int(found.max())}; wanted at most {axis}, the "
                    f"number of {name} that there are; check that the lengths belong to these "
                    "arrays"
                )
            before = least[side]
            least[side] = found if before is None else np.minimum(before, found)
    return least[0], least[1]


def _all_of(views: list[npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_] | None:
    if len(views) < 2:
        return views[0] if views else None
    shape = views[0].shape
    small = [v[tuple(slice(0, 1) if not s else slice(None) for s in v.strides)] for v in views]
    both = small[0]
    for view in small[1:]:
        both = both & view
    assert broadcasts(both.shape, shape), show(both.shape, shape)
    return np.broadcast_to(both, shape)


def _fixed(array: _Int64 | None) -> _Int64 | None:
    if array is not None:
        array = np.ascontiguousarray(array)
        array.flags.writeable = False
    return array
