"""Whole numbers that come in: lengths, segment ids and offsets, for each position or sample."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from clearhead.errors import ArgumentError, KindError, ShapeError
from clearhead.inputs.arrays import as_numpy
from clearhead.inputs.shapes import show

__all__ = ["fixed_integers", "integers", "least", "most", "per_sample"]

_INT64 = np.dtype(np.int64)
_FEW = 32


def integers(given: Any, name: str) -> npt.NDArray[np.int64]:
    """``given`` (a number, list, NumPy array or torch tensor) as a copy in int64."""
    if type(given) is np.ndarray and given.dtype is _INT64:
        return given.copy()
    try:
        array = as_numpy(given)
    except ValueError as error:  # a ragged list
        raise ShapeError(
            f"{name}: found {given!r}; wanted a rectangular list of integers"
        ) from error
    if not array.size and not isinstance(given, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype == np.bool_ or not np.issubdtype(array.dtype, np.integer):
        raise KindError(f"{name}: found {array.dtype}; wanted integers; convert them with int(...)")
    if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise ArgumentError(f"{name}: found {int(array.max())}; wanted numbers that fit in 63 bits")
    return array.astype(np.int64)


def fixed_integers(given: Any, name: str) -> npt.NDArray[np.int64]:
    """The same, read-only: a mask is shared, and remembers what its numbers meant."""
    array = integers(given, name)
    array.setflags(write=False)
    return array


def least(numbers: npt.NDArray[np.int64]) -> int:
    """The smallest of them; 0 of none. NumPy needs a microsecond for what is a matter of a few."""
    if numbers.size > _FEW:
        return int(numbers.min())
    return min(numbers.ravel().tolist(), default=0)


def most(numbers: npt.NDArray[np.int64]) -> int:
    """The largest of them; 0 of none."""
    if numbers.size > _FEW:
        return int(numbers.max())
    return max(numbers.ravel().tolist(), default=0)


def per_sample(given: Any, batch: tuple[int, ...], name: str) -> npt.NDArray[np.int64]:
    """One number per sample, (B,): a plain number for all, or an array of the batch axes' shape."""
    array = np.asarray(given, np.int64)
    if array.shape == batch and len(batch) == 1:
        return array
    samples = math.prod(batch)
    if not array.ndim:
        return np.full(samples, array, np.int64)
    if array.shape != batch:
        raise ShapeError(
            f"{name}: found shape {show(array.shape)}; wanted the batch axes {show(batch)}, or one "
            "plain number for every sample"
        )
    return array.reshape(samples)
