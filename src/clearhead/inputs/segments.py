"""Segment ids beside arrays of known sizes: several conditions become one pair of id arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from clearhead.errors import MaskError, ShapeError
from clearhead.inputs.conditions import Segments
from clearhead.inputs.shapes import broadcasts, show

__all__ = ["resolve_segments"]

_Ids = npt.NDArray[np.int32]


def resolve_segments(
    conditions: list[Segments], batch: tuple[int, ...], queries: int, keys: int
) -> tuple[_Ids | None, _Ids | None]:
    """The ids of the keys (B, M) and of the queries (B, N) that say all ``conditions`` at once.

    Raises ``ShapeError`` for ids of the wrong shape and ``MaskError`` where the ids of the queries
    are missing though N ≠ M.
    """
    if not conditions:
        return None, None
    of_keys, of_queries = [], []
    for one in conditions:
        if one.queries is None and queries != keys:
            raise MaskError(
                f"segments: found ids of the keys alone, beside {queries} queries and {keys} keys; "
                "wanted the ids of the queries too; say segments(keys, queries=...)"
            )
        of_keys.append(_ids(one.keys, batch, keys, "keys"))
        ids = one.keys if one.queries is None else one.queries
        of_queries.append(_ids(ids, batch, queries, "queries"))
    if len(conditions) == 1 and _fits(of_keys[0]) and _fits(of_queries[0]):
        return _fixed(of_keys[0]), _fixed(of_queries[0])
    return _renumbered(of_keys, of_queries)


def _ids(given: npt.NDArray[np.int64], batch: tuple[int, ...], length: int, name: str) -> Any:
    wanted = (*batch, length)
    per_position = given.ndim == 1 or given.ndim == len(wanted)
    if not per_position or given.shape[-1] != length or not broadcasts(given.shape, wanted):
        raise ShapeError(
            f"segments({name}): found shape {show(given.shape)}; wanted "
            f"{show((length,), wanted)}: an id for each of the {name}, the same for every sample "
            "or per sample"
        )
    return np.broadcast_to(given, wanted).reshape(math.prod(batch), length)


def _renumbered(of_keys: list[Any], of_queries: list[Any]) -> tuple[_Ids, _Ids]:
    """New ids that are equal where all the old ones are; −1 where any of them is."""
    samples, keys = of_keys[0].shape
    together = np.stack(
        [np.concatenate(pair, axis=1) for pair in zip(of_keys, of_queries, strict=True)], axis=-1
    )
    flat = together.reshape(-1, together.shape[-1])
    _, new = np.unique(flat, axis=0, return_inverse=True)
    ids = np.where((flat == -1).any(axis=1), -1, new.reshape(-1)).reshape(samples, -1)
    return _fixed(ids[:, :keys]), _fixed(ids[:, keys:])


def _fits(ids: npt.NDArray[np.int64]) -> bool:
    return not ids.size or int(ids.max()) <= np.iinfo(np.int32).max


def _fixed(ids: npt.NDArray[Any]) -> _Ids:
    fixed = np.ascontiguousarray(ids, np.int32)
    fixed.flags.writeable = False
    return fixed
