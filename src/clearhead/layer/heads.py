"""The parts of multi-head attention: projections, heads apart and side by side, what follows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clearhead.core.fused import attention
from clearhead.core.observation import Observe
from clearhead.layer.linear import linear

__all__ = ["attend", "join_heads", "project", "split_heads"]


def split_heads(x: Any, heads: int) -> Any:
    """(..., N, heads · d) → (..., heads, N, d), a view: nothing is copied."""
    lead, length, width = x.shape[:-2], x.shape[-2], x.shape[-1]
    return x.reshape((*lead, length, heads, width // heads)).swapaxes(-2, -3)


def join_heads(x: Any) -> Any:
    """(..., heads, N, d) → (..., N, heads · d): the heads' outputs side by side."""
    lead, (heads, length, width) = x.shape[:-3], x.shape[-3:]
    return x.swapaxes(-2, -3).reshape((*lead, length, heads * width))


def project(x: Any, weights: Mapping[str, Any], name: str) -> Any:
    """Queries, keys or values of all heads, side by side: X W + b, (..., N, heads · d).

    Args:
        x: (..., N, width)
        weights: of the layer, as :func:`clearhead.layer.multihead.multi_head_attention` takes
            them.
        name: "q", "k" or "v".

    Example:
        >>> import numpy as np
        >>> project(np.ones((1, 2)), {"w_k": np.eye(2), "b_k": np.array([0.0, 1.0])}, "k")
        array([[1., 2.]])
    """
    return linear(x, weights["w_" + name], weights.get("b_" + name))


def attend(
    query: Any,
    key: Any,
    value: Any,
    weights: Mapping[str, Any],
    *,
    mask: Any = None,
    observe: Observe | None = None,
) -> Any:
    """What follows the projections: every head attends, the heads are joined and mapped by W_O.

    Args:
        query: (..., heads, N, d_k); key: (..., kv_heads, M, d_k); value: (..., kv_heads, M, d_v).
        weights: of the layer; ``w_o`` and, where the model has it, ``b_o`` are used.
        mask, observe: as of :func:`clearhead.attention`.

    Returns:
        (..., N, width); with ``observe``, that and an :class:`clearhead.Observation`.

    Example:
        >>> import numpy as np
        >>> one = np.ones((1, 1, 1))
        >>> attend(one, one, one, {"w_o": np.array([[2.0]])})
        array([[2.]])
    """
    seen = None
    out = attention(query, key, value, mask=mask, observe=observe)
    if observe is not None:
        out, seen = out
    joined = linear(join_heads(out), weights["w_o"], weights.get("b_o"))
    return joined if observe is None else (joined, seen)
