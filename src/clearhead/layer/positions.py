"""Sinusoidal positions (Vaswani et al. 2017, section 3.5)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

__all__ = ["sinusoid"]


def sinusoid(length: int, width: int, start: int = 0) -> Any:
    """The position vectors of a sequence: sines in the even places, cosines in the odd ones.

    PE(pos, 2i) = sin(pos / 10000^(2i / width)),  PE(pos, 2i + 1) = cos(pos / 10000^(2i / width))

    Args:
        length: how many positions.
        width: the width of the model, an even number.
        start: the first position (a decoder with a cache does not begin at 0).

    Returns:
        (length, width) float32, a NumPy array that must not be written to.

    Example:
        >>> sinusoid(2, 4).round(4)
        array([[0.    , 1.    , 0.    , 1.    ],
               [0.8415, 0.5403, 0.01  , 1.    ]], dtype=float32)
    """
    rows = 512
    while rows < start + length:
        rows *= 2
    return _table(rows, width)[start : start + length]


@lru_cache(maxsize=8)
def _table(rows: int, width: int) -> Any:
    position = np.arange(rows, dtype=np.float64)[:, None]
    angle = position / 10000.0 ** (np.arange(0, width, 2, dtype=np.float64) / width)
    table = np.empty((rows, width), np.float32)
    table[:, 0::2] = np.sin(angle)
    table[:, 1::2] = np.cos(angle)
    table.setflags(write=False)
    return table
