"""The four conditions a ``Mask`` is made of, checked when they are made, and the anchor they share.

Each prints as the call that makes it, compares by value, and keeps plain NumPy data, so that copies
and pickles are whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.errors import ArgumentError, KindError, MaskError, ShapeError
from clearhead.inputs.arrays import as_numpy
from clearhead.inputs.integers import fixed_integers, least
from clearhead.inputs.shapes import show

__all__ = [
    "Allowed",
    "Anchor",
    "Band",
    "Condition",
    "Lengths",
    "Segments",
    "shared_anchor",
]

_FARTHEST = 2**60  # an offset beyond this cannot be a position; it keeps int64 sums exact


@dataclass(frozen=True, eq=False, repr=False)
class Anchor:
    """Which key query 0 stands at: ``offset``, or ``align="end"`` for keys − queries."""

    offset: Any = None
    align: str | None = None

    def __post_init__(self) -> None:
        if self.align not in (None, "end"):
            raise ArgumentError(
                f'align: found {self.align!r}; wanted "end" (the last query at the last key); for '
                "query 0 at key 0 say offset=0"
            )
        if self.offset is not None and self.align is not None:
            raise ArgumentError(
                f"offset and align: found {self.offset!r} and {self.align!r}; wanted one of them"
            )
        if self.offset is None:
            return
        offset = fixed_integers(self.offset, "offset")
        if offset.size and (int(offset.max()) > _FARTHEST or int(offset.min()) < -_FARTHEST):
            raise ArgumentError(f"offset: found {self.offset!r}; wanted a position, within ±2**60")
        object.__setattr__(self, "offset", offset if offset.ndim else int(offset))

    @property
    def plain(self) -> bool:
        """Whether it is the same number for every sample, whatever the lengths."""
        return not isinstance(self.offset, np.ndarray)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Anchor):
            return NotImplemented
        return self.align == other.align and _same(self.offset, other.offset)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"align={self.align!r}" if self.align else f"offset={_plain(self.offset)}"


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


@dataclass(frozen=True, eq=False, repr=False)
class Band:
    """i + offset − left ≤ j ≤ i + offset + right; None leaves a side open."""

    left: int | None
    right: int | None
    anchor: Anchor | None

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            bound = getattr(self, name)
            if bound is None:
                continue
            if isinstance(bound, bool | np.bool_) or not isinstance(bound, int | np.integer):
                raise KindError(
                    f"{name}: found {bound!r}; wanted an integer, or None for an open side"
                )
            if bound < 0:
                raise ArgumentError(
                    f"{name}: found {bound}; wanted 0 or more positions, or None for an open "
                    "side; to move the window say offset="
                )
            object.__setattr__(self, name, int(bound))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Band):
            return NotImplemented
        return (self.left, self.right) == (other.left, other.right) and self.anchor == other.anchor

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        anchor = "" if self.anchor is None else repr(self.anchor)
        if (self.left, self.right) == (None, 0):
            return f"causal({anchor})"
        return f"window({self.left}, {self.right}{', ' + anchor if anchor else ''})"


@dataclass(frozen=True, eq=False, repr=False)
class Lengths:
    """j < keys and i < queries, per sample; None where that side is whole."""

    keys: Any = None
    queries: Any = None

    def __post_init__(self) -> None:
        if self.keys is None and self.queries is None:
            raise ArgumentError("lengths: found neither; wanted keys=, queries= or both")
        for name in ("keys", "queries"):
            given = getattr(self, name)
            if given is None:
                continue
            found = fixed_integers(given, f"lengths({name})")
            if least(found) < 0:
                raise MaskError(f"lengths({name}): found {least(found)}; wanted 0 or more")
            object.__setattr__(self, name, found)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Lengths):
            return NotImplemented
        return _same(self.keys, other.keys) and _same(self.queries, other.queries)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = ((name, getattr(self, name)) for name in ("keys", "queries"))
        return f"lengths({', '.join(f'{n}={_plain(v)}' for n, v in given if v is not None)})"


@dataclass(frozen=True, eq=False, repr=False)
class Segments:
    """keys[j] == queries[i] ≠ −1; ``queries`` None: the ids of the keys."""

    keys: Any
    queries: Any = None

    def __post_init__(self) -> None:
        for name in ("keys", "queries"):
            given = getattr(self, name)
            if given is None and name == "queries":
                continue
            found = fixed_integers(given, f"segments({name})")
            if not found.ndim:
                raise ShapeError(
                    f"segments({name}): found one number; wanted an id for each position, (M,) or "
                    "(..., M)"
                )
            if found.size and int(found.min()) < -1:
                raise MaskError(
                    f"segments({name}): found {int(found.min())}; wanted ids from 0, and −1 for "
                    "padding"
                )
            object.__setattr__(self, name, found)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Segments):
            return NotImplemented
        return _same(self.keys, other.keys) and _same(self.queries, other.queries)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        queries = "" if self.queries is None else f", queries={_plain(self.queries)}"
        return f"segments({_plain(self.keys)}{queries})"


@dataclass(frozen=True, eq=False, repr=False)
class Allowed:
    """may_look[..., h, i, j], broadcast to (..., H, N, M). The array is kept, not copied."""

    may_look: Any

    def __post_init__(self) -> None:
        array = as_numpy(self.may_look)
        if array.dtype != np.bool_:
            found = f"{array.dtype} array" if array.ndim else type(self.may_look).__name__
            raise KindError(
                f"mask: found {found}; wanted a Mask, or booleans where True means may look; "
                "numbers that are added to the scores go to bias=, and 0 and 1 become booleans by "
                "mask != 0"
            )
        object.__setattr__(self, "may_look", array)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Allowed):
            return NotImplemented
        return _same(self.may_look, other.may_look)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"allowed(bool array of shape {show(self.may_look.shape)})"


Condition = Band | Lengths | Segments | Allowed


def _same(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b))


def _plain(value: Any) -> str:
    """A short array as a list; of a long one only what it is."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.size <= 16:
        return repr(value.tolist())
    return f"<{value.dtype} array of shape {show(value.shape)}>"
