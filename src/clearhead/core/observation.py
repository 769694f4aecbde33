"""What to look at, and what was seen: ``Observe`` goes in with a call, ``Observation`` comes out.

Nothing is left on a layer or a module. Asking never changes the output, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from clearhead.errors import ArgumentError, KindError
from clearhead.inputs.arrays import Array, as_numpy
from clearhead.inputs.options import whole_number
from clearhead.inputs.shapes import show

__all__ = ["Observation", "Observe"]


@dataclass(frozen=True)
class Observe:
    """Which of the weights' facts to return from a call; by default only ``visible``.

    top       the number k of strongest keys per query: ``top_keys``, ``top_weights``
    entropy   of each query's weights, in nats
    lse       natural logarithm of the sum of exp of the scores, sinks included
    received  how much each key is looked at: True over all queries, w over the last w valid ones
    map       the weights as a picture of at most about map × map blocks
    rows      the whole weights of these queries: a list of indices, negative ones from the end
    weights   all weights, (..., H, N, M): for short inputs

    Raises ``ArgumentError`` or ``KindError`` for values that cannot be meant.

    >>> Observe(top=8, entropy=True)
    Observe(top=8, entropy=True)
    """

    top: int = 0
    entropy: bool = False
    lse: bool = False
    received: bool | int = False
    map: int | None = None
    rows: Sequence[int] | None = None
    weights: bool = False

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "top", whole_number(self.top, "top", 0))
        for name in ("entropy", "lse", "weights"):
            put(self, name, _flag(getattr(self, name), name))
        if not isinstance(self.received, bool | np.bool_):
            put(self, "received", whole_number(self.received, "received", 1))
        else:
            put(self, "received", bool(self.received))
        if self.map is not None:
            put(self, "map", whole_number(self.map, "map", 1))
        if self.rows is not None:
            put(self, "rows", _rows(self.rows))

    @property
    def received_last(self) -> int | None:
        """How many of the last valid queries ``received`` counts: None for all of them."""
        return None if isinstance(self.received, bool) else self.received

    @property
    def goes_by(self) -> bool:
        """Whether all that is asked falls out of one pass, and is small beside the output."""
        return self.top <= 64 and (
            not self.received and self.map is None and self.rows is None and not self.weights
        )

    @property
    def receives(self) -> bool:
        """Whether ``received`` is asked for; ``received=1`` counts the last query, True all."""
        return self.received is not False

    def row_indices(self, queries: int) -> tuple[int, ...] | None:
        """``rows`` beside N queries, each in 0 … N − 1; None where not asked."""
        if self.rows is None:
            return None
        for row in self.rows:
            if not -queries <= row < queries:
                raise ArgumentError(
                    f"rows: found query {row} beside {queries} queries; wanted 0 … {queries - 1}, "
                    "or negative ones from the end"
                )
        return tuple(row % queries for row in self.rows)

    def blocks(self, length: int) -> tuple[int, int]:
        """The size of a block of ``map`` along an axis of ``length``, and their number."""
        size = -(-length // (self.map or 1))
        return size, -(-length // size) if size else 0

    def __repr__(self) -> str:
        asked = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default or type(value) is not type(field.default):  # True is not 1
                asked.append(f"{field.name}={value!r}")
        return f"Observe({', '.join(asked)})"


@dataclass(frozen=True, eq=False, repr=False)
class Observation:
    """What was seen in one call; a field is None where it was not asked for.

    Arrays are of the library of the query, and float32 (float64 for float64 input). p[i, j] are the
    weights before dropout.

    visible      (..., H, N) bool      whether the query may look at anything; else all is zero
    top_keys     (..., H, N, k) int32  keys of largest score, largest first, ties to the smaller
                                       index, scores of −inf or NaN last; −1 where fewer than
                                       k keys are visible
    top_weights  (..., H, N, k)        their weights; 0 beside −1
    entropy      (..., H, N)           −Σ_j p ln p in nats
    lse          (..., H, N)           −inf for a query that sees nothing, or its sink if any
    received     (..., H, M)           Σ_i p[i, j] / queries that may look at something
    map          (..., H, rows, cols)  weights summed over blocks of keys, averaged over the live
                                       queries of a block; blocks of ⌈N / map⌉ by ⌈M / map⌉
    rows         (..., H, R, M)        weights of the chosen queries, in the order asked
    weights      (..., H, N, M)        all of them
    """

    visible: Array
    top_keys: Array | None = None
    top_weights: Array | None = None
    entropy: Array | None = None
    lse: Array | None = None
    received: Array | None = None
    map: Array | None = None
    rows: Array | None = None
    weights: Array | None = None

    def __repr__(self) -> str:
        held = ((f.name, getattr(self, f.name)) for f in fields(self))
        return f"Observation({', '.join(f'{n} {show(x.shape)}' for n, x in held if x is not None)})"


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise KindError(f"{name}: found {value!r}; wanted True or False")
    return bool(value)


def _rows(rows: Any) -> tuple[int, ...]:
    try:
        array = as_numpy(rows if hasattr(rows, "dtype") else list(rows))
    except (TypeError, ValueError):
        raise KindError(f"rows: found {rows!r}; wanted a list of query indices") from None
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise KindError(
            f"rows: found {rows!r}; wanted a list of query indices, for example rows=[0, 5]"
        )
    return tuple(int(row) for row in array)
