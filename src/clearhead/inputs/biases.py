"""What is added to the scaled scores: an array, or alibi, which is a rule and not an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clearhead.errors import ArgumentError, KindError, ShapeError
from clearhead.inputs.arrays import (
    Array,
    as_numpy,
    in_library_of,
    is_array,
    is_torch,
    kind,
    namespace,
)
from clearhead.inputs.conditions import Anchor
from clearhead.inputs.options import beside
from clearhead.inputs.shapes import Sizes, broadcasts, show

__all__ = ["Alibi", "alibi", "alibi_bias", "alibi_slopes", "bias_view", "checked_bias"]


@dataclass(frozen=True, eq=False, repr=False)
class Alibi:
    """The bias −slope[h] · |i + offset − j|: the farther the key, the lower its score.

    ``slopes`` is kept as it was given (a torch tensor may need its gradient); ``anchor`` is None
    where the mask, or N = M, decides.
    """

    slopes: Any
    anchor: Anchor | None = None

    def __post_init__(self) -> None:
        slopes = self.slopes
        if not is_array(slopes):
            try:
                slopes = np.asarray(slopes, np.float64)
            except (TypeError, ValueError):
                raise KindError(f"alibi: found {slopes!r}; wanted a slope per query head") from None
            object.__setattr__(self, "slopes", slopes)
        if slopes.ndim > 1:
            raise ShapeError(
                f"alibi: found slopes of shape {show(slopes.shape)}; wanted (heads,): a number "
                "per head"
            )
        numbers = as_numpy(slopes)
        if numbers.dtype.kind not in "fV":
            raise KindError(f"alibi: found slopes of kind {numbers.dtype}; wanted floats")
        if not np.isfinite(numbers.astype(np.float64)).all():
            raise ArgumentError(
                "alibi: found a slope that is NaN or infinite; wanted finite numbers"
            )

    def per_head(self, heads: int) -> npt.NDArray[np.float64]:
        """The slopes as (heads,) float64; ``ShapeError`` where their number is another."""
        slopes = as_numpy(self.slopes).astype(np.float64)
        if slopes.ndim and slopes.shape != (heads,):
            raise ShapeError(
                f"alibi: found {slopes.shape[0]} slopes; wanted {heads}, one for each query head"
            )
        return np.ascontiguousarray(np.broadcast_to(slopes, (heads,)))

    def __repr__(self) -> str:
        slopes = as_numpy(self.slopes)
        shown = slopes.tolist() if slopes.size <= 16 else f"<{slopes.shape[0]} slopes>"
        return f"alibi({shown}{', ' + repr(self.anchor) if self.anchor else ''})"


def alibi(slopes: Array, offset: Array | int | None = None, align: str | None = None) -> Alibi:
    """The bias −slope · |i + offset − j| with one slope per head (Press et al. 2022, section 3).

    ``offset`` and ``align="end"`` place query 0 as in ``causal``; with neither it takes the anchor
    of the mask it is used with. Nothing of size N × M is ever built by the fused path.

    >>> alibi([0.5, 0.25], align="end")
    alibi([0.5, 0.25], align='end')
    """
    return Alibi(slopes, None if offset is None and align is None else Anchor(offset, align))


def alibi_slopes(heads: int) -> npt.NDArray[np.float64]:
    """The slopes of the paper: 2**(−8/n), 2**(−16/n), ... for n heads, n a power of two.

    For other n those of the next lower power of two, then every other one of twice that power.

    >>> alibi_slopes(6).tolist()
    [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]
    """
    if heads < 1:
        raise ArgumentError(f"heads: found {heads}; wanted 1 or more")
    whole = 1 << (heads.bit_length() - 1)
    slopes = 2.0 ** (-8.0 * np.arange(1, whole + 1) / whole)
    between = 2.0 ** (-8.0 * np.arange(1, 2 * whole, 2) / (2 * whole))
    return np.concatenate([slopes, between[: heads - whole]])


def checked_bias(bias: Array, kind_of_query: str, sizes: Sizes) -> Array:
    """``bias`` once its kind (the query's or float32) and its shape, from the right, are right."""
    if not is_array(bias):
        bias = np.asarray(bias)
        if bias.dtype == np.float64:  # a list of Python numbers has no kind of its own
            bias = bias.astype("float64" if kind_of_query == "float64" else "float32")
    if str(bias.dtype).endswith("bool"):
        raise KindError(
            "bias: found booleans; wanted numbers that are added to the scores; booleans, True = "
            "may look, go to mask="
        )
    found = kind(bias, "bias")
    if found not in (kind_of_query, "float32"):
        raise KindError(
            f"bias: found kind {found} beside a query of {kind_of_query}; wanted "
            f"{beside(kind_of_query)}, since nothing is promoted silently; convert it"
        )
    if not broadcasts(bias.shape, sizes.scores):
        raise ShapeError(
            f"bias: found shape {show(bias.shape)}; wanted one that broadcasts, aligned from the "
            f"right, to {show(sizes.scores)} = (..., heads, queries, keys)"
        )
    return bias


def bias_view(bias: Array, sizes: Sizes) -> Array:
    """``bias`` as (B, H, N, M) in its own library, broadcast axes with stride 0.

    Copied only where several batch axes are not evenly spaced in memory, and then only those axes.
    """
    samples = sizes.samples
    wanted = sizes.scores
    if len(sizes.batch) == 1:
        xp = np if isinstance(bias, np.ndarray) else namespace(bias)
        return xp.broadcast_to(bias, wanted)
    small = bias.reshape((1,) * (len(wanted) - bias.ndim) + tuple(bias.shape))
    batch, rest = tuple(small.shape[:-3]), tuple(small.shape[-3:])
    if all(n == 1 for n in batch):
        small = small.reshape((1, *rest))
    else:
        small = namespace(small).broadcast_to(small, (*sizes.batch, *rest))
        small = small.reshape((samples, *rest))
    return namespace(small).broadcast_to(small, (samples, *wanted[-3:]))


def alibi_bias(rule: Alibi, offsets: npt.NDArray[np.int64], sizes: Sizes, like: Array) -> Array:
    """The rule written out, (B, H, N, M), in the library and kind of ``like``: for the judge."""
    distance = (
        np.arange(sizes.queries)[:, None] + offsets[:, None, None, None] - np.arange(sizes.keys)
    )
    rule.per_head(sizes.heads)  # the number of slopes is right
    xp = namespace(like)
    steps = xp.astype(in_library_of(np.abs(distance).astype(np.float64), like), like.dtype)
    slopes = in_library_of(rule.slopes, like)
    slopes = slopes.to(like.dtype) if is_torch(slopes) else slopes.astype(like.dtype)
    if slopes.ndim:
        slopes = slopes[:, None, None]
    return xp.broadcast_to(-slopes * steps, (sizes.samples, *sizes.scores[-3:]))
