"""One door for every call: the arguments checked and read once, for the judge and the fused path.

What is refused here is refused everywhere with the same words, before anything runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from clearhead.errors import ArgumentError
from clearhead.inputs.arrays import Array, same_kind
from clearhead.inputs.biases import Alibi, checked_bias
from clearhead.inputs.masks import Mask, ResolvedMask, resolve
from clearhead.inputs.options import checked_scale, checked_sinks, checked_softcap
from clearhead.inputs.shapes import Sizes, sizes

__all__ = ["Call", "read"]

_LARGEST_SCALE = {"float64": 1e300}  # half kinds and float32, in which all three count: 1e30
_LARGEST_FLOAT32 = 3.4e38


class Call(NamedTuple):
    """What one call of attention means."""

    kind: str
    """Of query, key and value: "float32", "float64", "float16" or "bfloat16"."""
    sizes: Sizes
    mask: ResolvedMask
    bias: Array | None
    """As it was given, checked: ``biases.bias_view`` makes (B, H, N, M) of it."""
    alibi: Alibi | None
    """Instead of ``bias``; its offsets are ``mask.anchor``."""
    scale: float
    softcap: float | None
    sinks: Array | None
    """(H,), of the query's kind or float32, as it was given."""


def read(
    query: Array,
    key: Array,
    value: Array,
    mask: Mask | Array | None = None,
    bias: Array | Alibi | None = None,
    scale: Any = None,
    softcap: Any = None,
    sinks: Array | None = None,
) -> Call:
    """Check the arguments of ``attention`` and say what they mean.

    Raises ``KindError``, ``ShapeError``, ``MaskError`` or ``ArgumentError``.

    >>> import numpy as np
    >>> x = np.zeros((2, 4, 3, 9))
    >>> read(x, x, x).scale
    0.3333333333333333
    """
    kind = same_kind(query, key, value)
    axes = sizes(query, key, value)
    rule = None
    if isinstance(bias, Alibi):
        rule, bias = bias, None
        rule.per_head(axes.heads)
    elif bias is not None:
        bias = checked_bias(bias, kind, axes)
    alibi = False if rule is None else (rule.anchor or True)
    resolved = resolve(mask, axes.batch, axes.heads, axes.queries, axes.keys, alibi)
    if sinks is not None:
        sinks = checked_sinks(sinks, kind, axes.heads)
    factor = checked_scale(scale, axes.d_k)
    most = _LARGEST_SCALE.get(kind, 1e30)
    if abs(factor) > most:
        raise ArgumentError(
            f"scale: found {factor:g} beside {kind}; wanted at most {most:g} in size, or scores "
            "leave the range of the kind; scale the query, or call in float64"
        )
    cap = checked_softcap(softcap)
    if cap is not None and kind != "float64" and cap > _LARGEST_FLOAT32:
        cap = None  # no score is as large
    return Call(kind, axes, resolved, bias, rule, factor, cap, sinks)
