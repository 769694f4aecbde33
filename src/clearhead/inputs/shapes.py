"""Names of the axes, what must agree, and the messages when it does not.

The letters used everywhere::

    ...   batch axes, any number       H     query heads          N    queries
    B     their product                H_kv  key and value heads  M    keys
    d_k   width of a query and a key   d_v   width of a value
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from clearhead.errors import MemoryLimitError, ShapeError
from clearhead.inputs.arrays import Array

__all__ = ["Sizes", "broadcasts", "fits_in_memory", "show", "sizes"]

_ALWAYS_FITS = 1 << 28  # 256 MiB: below it the system is not asked how much memory is left


class Sizes(NamedTuple):
    """The sizes of one call; ``batch`` is the tuple of leading axes."""

    batch: tuple[int, ...]
    heads: int
    kv_heads: int
    queries: int
    keys: int
    d_k: int
    d_v: int

    @property
    def samples(self) -> int:
        """B, the product of the batch axes."""
        return math.prod(self.batch)

    @property
    def group(self) -> int:
        """How many query heads share one key head."""
        return self.heads // self.kv_heads if self.kv_heads else 1

    @property
    def scores(self) -> tuple[int, ...]:
        """(..., H, N, M), the shape that masks and biases broadcast to."""
        return (*self.batch, self.heads, self.queries, self.keys)


def sizes(query: Array, key: Array, value: Array) -> Sizes:
    """The sizes of one call, from the shapes of its arrays.

    ``query`` (..., H, N, d_k), ``key`` (..., H_kv, M, d_k), ``value`` (..., H_kv, M, d_v). Raises
    ``ShapeError`` where they do not fit together.

    >>> import numpy as np
    >>> sizes(np.zeros((2, 8, 5, 4)), np.zeros((2, 2, 7, 4)), np.zeros((2, 2, 7, 3)))
    Sizes(batch=(2,), heads=8, kv_heads=2, queries=5, keys=7, d_k=4, d_v=3)
    """
    q, k, v = tuple(query.shape), tuple(key.shape), tuple(value.shape)
    if len(q) < 3 or len(k) != len(q) or len(v) != len(q):
        raise ShapeError(
            f"query, key and value: found shapes {show(q, k, v)}; wanted the same number of axes, "
            "at least three: (..., heads, positions, width); for one head, add an axis: query[None]"
        )
    heads, queries, d_k = q[-3:]
    kv_heads, keys, d_v = v[-3:]
    if k[:-1] != v[:-1]:
        raise ShapeError(
            f"key and value: found shapes {show(k, v)}; wanted all but the last axis alike: one "
            "value for each key"
        )
    if k[-1] != d_k:
        raise ShapeError(
            f"key: found width {k[-1]} in shape {show(k)}; wanted the query's width {d_k} (last "
            f"axis of {show(q)}); check that the axes are (..., heads, positions, width)"
        )
    if k[:-3] != q[:-3]:
        raise ShapeError(
            f"key and value: found batch axes {show(k[:-3])}; wanted those of the query, "
            f"{show(q[:-3])}; use broadcast_to, which copies nothing, to share keys in a batch"
        )
    if heads != kv_heads and (not kv_heads or heads % kv_heads):
        wanted = f"a multiple of {kv_heads} query heads" if kv_heads else "at least one key head"
        raise ShapeError(
            f"query heads and key heads: found {heads} and {kv_heads} (axis -3 of {show(q, k)}); "
            f"wanted {wanted}, since query head h uses key head "
            "h // (heads / key heads); check that the axes are (..., heads, positions, width)"
        )
    return Sizes(q[:-3], heads, kv_heads, queries, keys, d_k, d_v)


def broadcasts(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether an array of ``shape`` broadcasts, aligned from the right, to ``wanted``."""
    return len(shape) <= len(wanted) and all(
        have in (1, want) for have, want in zip(reversed(shape), reversed(wanted), strict=False)
    )


def show(*shapes: Sequence[int]) -> str:
    """Shapes as they stand in messages.

    >>> show((2, 3), (4,))
    '(2, 3), (4,)'
    """
    return ", ".join(str(tuple(int(n) for n in shape)) for shape in shapes)


def fits_in_memory(wanted: int, what: str) -> None:
    """Refuse, before anything is touched, what cannot fit: ``wanted`` bytes for ``what``.

    Compared with the memory that Linux calls available; elsewhere only what no address can hold is
    refused. Raises ``MemoryLimitError``.
    """
    if wanted <= _ALWAYS_FITS:
        return
    free = _available()
    if wanted > free:
        raise MemoryLimitError(
            f"{what}: found a request of {wanted / 2**30:,.1f} GiB; wanted at most "
            f"{free / 2**30:,.1f} GiB, which is what is free; ask for less: fewer queries at a "
            "time, or observe=Observe(top=..., map=...), which grow with the length and not its "
            "square"
        )


def _available() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 1 << 47
