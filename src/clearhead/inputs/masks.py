"""Masks as descriptions: who may look at whom, said once and combined with ``&``.

A ``Mask`` is a tuple of conditions; a query may look at a key where all of them hold. ``resolve``
turns it into the plain numbers that both the judge and the kernels read: ``ResolvedMask``.

How to add a kind of mask is told in CONTRIBUTING.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clearhead.inputs.arrays import Array
from clearhead.inputs.conditions import (
    Allowed,
    Anchor,
    Band,
    Condition,
    Lengths,
    Segments,
    shared_anchor,
)
from clearhead.inputs.resolved import ResolvedMask
from clearhead.inputs.resolving import resolve_conditions

__all__ = [
    "Mask",
    "ResolvedMask",
    "allowed",
    "causal",
    "lengths",
    "resolve",
    "segments",
    "window",
]


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
        bands = [c for c in self.conditions if isinstance(c, Band)]
        return bands[0].anchor if len(bands) == 1 else shared_anchor([b.anchor for b in bands])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mask):
            return NotImplemented
        return self.conditions == other.conditions

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __reduce__(self) -> tuple[type[Mask], tuple[Any, ...]]:
        return Mask, (self.conditions,)

    def resolved(self, *beside: Any) -> ResolvedMask:
        """What :func:`resolve` returns, the last one remembered: every layer of a model asks."""
        known = self.__dict__.get("_last")
        if known is not None and known[0] == beside:
            return known[1]  # type: ignore[no-any-return]
        found = resolve_conditions(self.conditions, *beside)
        if found.allowed is None:  # an array is the caller's, who may change what is in it
            object.__setattr__(self, "_last", (beside, found))
        return found

    def __repr__(self) -> str:
        return " & ".join(map(repr, self.conditions)) or "Mask()"


_CAUSAL = Mask((Band(None, 0, None),))
_CAUSAL_AT_THE_END = Mask((Band(None, 0, Anchor(align="end")),))


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
    if offset is None and align == "end":
        return _CAUSAL_AT_THE_END
    return Mask((Band(None, 0, Anchor(offset, align)),))


def window(
    left: int | None,
    right: int | None,
    offset: Array | int | None = None,
    align: str | None = None,
) -> Mask:
    """Query i may look at key j where i + offset − left ≤ j ≤ i + offset + right.

    The position itself is not counted, so ``window(1, 0)`` sees two keys. None leaves that side
    open. ``offset`` and ``align`` as in ``causal``.

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

    >>> import numpy as np
    >>> allowed(np.ones((1, 4), bool))
    allowed(bool array of shape (1, 4))
    """
    return Mask((Allowed(boolean_array),))


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
    Raises ``MaskError``, ``ShapeError`` or ``KindError`` for what cannot be meant, before anything
    runs.
    """
    if mask is None:
        if not alibi:
            return _EVERYTHING
        mask = Mask()
    elif not isinstance(mask, Mask):
        mask = allowed(mask)
    return mask.resolved(batch, heads, queries, keys, alibi)
