"""A mask as the plain numbers that the judge, torch and the kernels read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["CONDITIONS", "OPEN", "ResolvedMask"]

OPEN = 2**62
"""The open end of a band: ``low`` is −OPEN, ``high`` is OPEN."""

_Int64 = npt.NDArray[np.int64]


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

    @cached_property
    def everything(self) -> bool:
        """Whether every query may look at every key: no condition is given."""
        return all(condition is None for condition in self.handed)

    @cached_property
    def handed(self) -> tuple[npt.NDArray[Any] | None, ...]:
        """The fields that mask, in the order of ``Mask`` in native/attention.h."""
        return tuple([getattr(self, name) for name in CONDITIONS])

    def only(self, *names: str) -> bool:
        """Whether no condition is given beside those in the fields named.

        >>> ResolvedMask(key_lengths=np.array([3])).only("key_lengths")
        True
        """
        return all(name in names or getattr(self, name) is None for name in CONDITIONS)

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


CONDITIONS = tuple(f.name for f in fields(ResolvedMask) if f.name != "anchor")
"""The fields that mask, in the order in which the kernels take them."""
