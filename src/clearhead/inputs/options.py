"""The numbers of a call, checked: scale, softcap, sinks, and whole numbers wherever they count."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from clearhead.errors import ArgumentError, KindError, ShapeError
from clearhead.inputs.arrays import Array, is_array, kind
from clearhead.inputs.shapes import show

__all__ = ["beside", "checked_scale", "checked_sinks", "checked_softcap", "whole_number"]

_MOST = 2**31  # sizes and counts are 32-bit numbers in the kernels


def checked_scale(scale: Any, d_k: int) -> float:
    """``scale`` as a float, or 1 / sqrt(d_k): any finite number, 0 and below included.

    >>> checked_scale(None, 64)
    0.125
    """
    if scale is None:
        return 1.0 / math.sqrt(d_k) if d_k else 1.0  # without columns every score is the empty sum
    return _finite(scale, "scale")


def checked_softcap(softcap: Any) -> float | None:
    """``softcap`` as a positive float; None stays None, no cap."""
    if softcap is None:
        return None
    cap = _finite(softcap, "softcap")
    if cap <= 0:
        raise ArgumentError(f"softcap: found {cap}; wanted a number above 0, or None for no cap")
    return cap


def checked_sinks(sinks: Array, kind_of_query: str, heads: int) -> Array:
    """``sinks`` once it is (H,), or one number for every head, of the query's kind or float32."""
    if not is_array(sinks):
        try:
            sinks = np.asarray(sinks, np.float64 if kind_of_query == "float64" else np.float32)
        except (TypeError, ValueError):
            raise KindError(f"sinks: found {sinks!r}; wanted a number per query head") from None
    found = kind(sinks, "sinks")
    if found not in (kind_of_query, "float32"):
        raise KindError(
            f"sinks: found kind {found} beside a query of {kind_of_query}; wanted "
            f"{beside(kind_of_query)}, since nothing is promoted silently; convert them"
        )
    if tuple(sinks.shape) not in ((heads,), ()):
        raise ShapeError(
            f"sinks: found shape {show(sinks.shape)}; wanted {show((heads,))}: one logit per "
            "query head"
        )
    return sinks if sinks.ndim else sinks.reshape(1).repeat(heads)


def beside(kind_of_query: str) -> str:
    """The kinds that biases and sinks may have, as messages say it.

    >>> beside("float16"), beside("float32")
    ('float16 or float32', 'float32')
    """
    return "float32" if kind_of_query == "float32" else f"{kind_of_query} or float32"


def whole_number(value: Any, name: str, least: int) -> int:
    """``value`` as an int of ``least`` or more; ``KindError`` or ``ArgumentError`` otherwise."""
    if isinstance(value, bool | np.bool_):
        raise KindError(f"{name}: found {value}; wanted a whole number of {least} or more")
    try:
        number = operator.index(value)
    except TypeError:
        raise KindError(
            f"{name}: found {value!r}; wanted a whole number of {least} or more"
        ) from None
    if number < least:
        raise ArgumentError(f"{name}: found {number}; wanted a whole number of {least} or more")
    if number >= _MOST:
        raise ArgumentError(f"{name}: found {number}; wanted a whole number below 2**31")
    return number


def _finite(value: Any, name: str) -> float:
    if isinstance(value, bool | str | bytes):
        raise KindError(f"{name}: found {value!r}; wanted a number")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    except (TypeError, ValueError, RuntimeError) as error:
        raise KindError(f"{name}: found {type(value).__name__}; wanted a plain number") from error
    if not math.isfinite(number):
        raise ArgumentError(f"{name}: found {number}; wanted a finite number")
    return number
