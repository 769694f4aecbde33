"""The embedding: a row of the table for every piece."""

from __future__ import annotations

from typing import Any

from clearhead.inputs.arrays import is_torch, namespace

__all__ = ["embed"]


def embed(ids: Any, table: Any) -> Any:
    """Looks up a row of ``table`` for every id.

    Args:
        ids: (...) integers, 0 ≤ id < rows of the table.
        table: (vocabulary, width)

    Returns:
        (..., width)

    Example:
        >>> import numpy as np
        >>> embed(np.array([1, 0]), np.array([[1.0, 2.0], [3.0, 4.0]]))
        array([[3., 4.],
               [1., 2.]])
    """
    xp = namespace(table)
    if is_torch(table):
        return xp.nn.functional.embedding(ids, table)
    return xp.take(table, ids, axis=0)
