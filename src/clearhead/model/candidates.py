"""The most probable next pieces of many hypotheses, out of a large vocabulary.

R rows (hypotheses), V pieces. Probabilities are of the whole vocabulary: a piece that may not come
next is passed over, but the others are not made likelier, so that reading a translation as it
stands (forced decoding) gives the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["best_pieces", "log_sum_exp"]

_STRIDE = (
    20  # columns looked at as one: their largest says whether any of them can be among the best
)
_FEW = 2  # so many are found fastest one after the other
_ROWS = 16  # rows whose exponentials are at hand together, so that they stay in the cache


def log_sum_exp(scores: Any) -> Any:
    """ln Σ exp of every row, (R, V) → (R,) float64, without overflow.

    Example:
        >>> log_sum_exp(np.zeros((1, 4), np.float32)).round(4)
        array([1.3863])
    """
    peak = scores.max(axis=1, keepdims=True)
    total = np.empty(len(scores), np.float64)
    held = np.empty((min(_ROWS, len(scores)), scores.shape[1]), scores.dtype)
    for at in range(0, len(scores), _ROWS):
        rows = scores[at : at + _ROWS]
        part = held[: len(rows)]
        np.subtract(rows, peak[at : at + _ROWS], out=part)
        np.exp(part, out=part)
        total[at : at + _ROWS] = part.sum(axis=1)
    return np.log(total) + peak[:, 0]


def best_pieces(scores: Any, count: int) -> tuple[Any, Any]:
    """The ``count`` largest scores of every row, largest first, ties to the smaller piece.

    Columns are first compared as groups: a piece among the best ``count`` is in one of the
    ``count`` groups whose largest score is largest, so only these are sorted.

    Args:
        scores: (R, V); it may be written to in between, and is as before in the end.
        count: how many; at most V.

    Returns:
        pieces (R, count) and their scores.

    Example:
        >>> best_pieces(np.array([[1.0, 5.0, 3.0, 5.0]]), 3)[0]
        array([[1, 3, 2]])
    """
    rows, width = scores.shape
    if count <= _FEW:
        return _one_by_one(scores, count)
    groups = width // _STRIDE
    if groups <= 2 * count:
        pieces = np.broadcast_to(np.arange(width), (rows, width))
        return _sorted_best(scores, pieces, count)
    whole = groups * _STRIDE
    largest = scores[:, :whole].reshape(rows, _STRIDE, groups).max(axis=1)
    chosen = np.argpartition(largest, groups - count, axis=1)[:, groups - count :]
    pieces = (chosen[:, None, :] + (np.arange(_STRIDE) * groups)[:, None]).reshape(rows, -1)
    if whole < width:
        rest = np.broadcast_to(np.arange(whole, width), (rows, width - whole))
        pieces = np.concatenate([pieces, rest], axis=1)
    return _sorted_best(np.take_along_axis(scores, pieces, axis=1), pieces, count)


def _one_by_one(scores: Any, count: int) -> tuple[Any, Any]:
    """The largest, then the largest of the others, and so on."""
    rows = np.arange(len(scores))
    pieces = np.empty((len(scores), count), np.int64)
    found = np.empty((len(scores), count), scores.dtype)
    for k in range(count):
        pieces[:, k] = best = scores.argmax(axis=1)
        found[:, k] = scores[rows, best]
        scores[rows, best] = -np.inf
    for k in reversed(range(count)):  # a piece found twice is −inf the second time
        scores[rows, pieces[:, k]] = found[:, k]
    return pieces, found


def _sorted_best(scores: Any, pieces: Any, count: int) -> tuple[Any, Any]:
    if count < scores.shape[1]:
        first = np.argpartition(-scores, count - 1, axis=1)[:, :count]
        scores = np.take_along_axis(scores, first, axis=1)
        pieces = np.take_along_axis(pieces, first, axis=1)
    order = np.lexsort((pieces, -scores), axis=1)
    return np.take_along_axis(pieces, order, axis=1), np.take_along_axis(scores, order, axis=1)
