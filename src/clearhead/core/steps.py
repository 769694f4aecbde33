"""Multi-head attention in plain steps, one function each: the judge of every fused path.

====  ===================  ==========================================  ====================
step  function             formula                                     shape, one head
====  ===================  ==========================================  ====================
1     queries keys values  Q = X W_Q, K = X W_K, V = X W_V             (N, d_k) (M, d_k) (M, d_v)
2     scores               Q Kᵀ                                        (N, M)
3     scaled_scores        scores / sqrt(d_k)                          (N, M)
4     weights              softmax over j                              (N, M)
5     weighted_values      weights[i, j] · V[j]                        (N, M, d_v)
6     head_outputs         Σ_j weighted_values                         (N, d_v)
7     concatenated         [Z_1 … Z_H]                                 (N, H · d_v)
8     output               concatenated · W_O                          (N, width)
====  ===================  ==========================================  ====================

(Vaswani et al. 2017, section 3.2.) Heads stand in front of positions: (..., H, N, d). Written
against the array API, so NumPy and torch run the same lines, and torch can differentiate them. What
a mask hides is selected away, never multiplied by zero, so that NaN and infinity stay where they
are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearhead.core.observation import Observe
from clearhead.core.selection import (
    bias_array,
    is_finite,
    may_look_array,
    per_head,
    without_unseen,
)
from clearhead.core.steps_observed import observed
from clearhead.inputs.arrays import Array, in_library_of, namespace, observed_kind
from clearhead.inputs.biases import Alibi
from clearhead.inputs.call import read
from clearhead.inputs.masks import Mask

__all__ = [
    "Steps",
    "attention",
    "concatenated",
    "head_outputs",
    "keys",
    "multi_head_steps",
    "output",
    "queries",
    "scaled_scores",
    "scores",
    "softmax_parts",
    "values",
    "weighted_values",
    "weights",
]


def queries(x: Array, w_q: Array, b_q: Array | None = None) -> Array:
    """Step 1: what each position asks, X W_Q: (..., N, width) → (..., N, d_k)."""
    return x @ w_q if b_q is None else x @ w_q + b_q


def keys(x: Array, w_k: Array, b_k: Array | None = None) -> Array:
    """Step 1: what each position offers to be found by, X W_K: (..., M, width) → (..., M, d_k)."""
    return x @ w_k if b_k is None else x @ w_k + b_k


def values(x: Array, w_v: Array, b_v: Array | None = None) -> Array:
    """Step 1: what each position passes on, X W_V: (..., M, width) → (..., M, d_v)."""
    return x @ w_v if b_v is None else x @ w_v + b_v


def scores(queries: Array, keys: Array) -> Array:
    """Step 2: how much focus position i puts on position j, Q Kᵀ: (..., H, N, M)."""
    return queries @ namespace(keys).matrix_transpose(keys)


def scaled_scores(scores: Array, scale: float) -> Array:
    """Step 3: scores · scale, usually 1 / sqrt(d_k), so that gradients stay stable."""
    return scores * scale


def weights(
    scaled_scores: Array, may_look: Array | None = None, sinks: Array | None = None
) -> Array:
    """Step 4: softmax over j: positive, each row adds up to 1; 0 where ``may_look`` is False.

    ``sinks`` (..., H, 1, 1) is one more logit in the sum of each row, and takes its share of it.
    The row of a query that may look at nothing is all 0.

    >>> import numpy as np
    >>> weights(np.zeros((1, 2, 2)), np.array([[True, False], [True, True]]))[0].tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    exps, total, _ = softmax_parts(scaled_scores, may_look, sinks)
    xp = namespace(exps)
    return exps / xp.where(total == 0, xp.ones_like(total), total)


def softmax_parts(
    scaled_scores: Array, may_look: Array | None = None, sinks: Array | None = None
) -> tuple[Array, Array, Array]:
    """exp(s − peak) (..., N, M), their sum (..., N, 1) with the sink, and the peak (..., N, 1).

    lse = peak + ln(sum). For a row with nothing in it the sum is 0 and the peak is 0.
    """
    xp = namespace(scaled_scores)
    none = xp.zeros_like(scaled_scores)
    may = xp.ones_like(scaled_scores, dtype=xp.bool) if may_look is None else may_look
    sink = xp.full_like(xp.sum(none, axis=-1, keepdims=True), -math.inf)
    if sinks is not None:
        sink = sinks + xp.zeros_like(sink)
    seen = xp.where(may, scaled_scores, none - math.inf)
    peak = xp.max(xp.concat([seen, sink], axis=-1), axis=-1, keepdims=True)
    alive = xp.any(may, axis=-1, keepdims=True) | (sink > -math.inf)
    peak = xp.where(alive, peak, xp.zeros_like(peak))
    exps = xp.where(may, xp.exp(xp.where(may, scaled_scores - peak, none)), none)
    return exps, xp.sum(exps, axis=-1, keepdims=True) + xp.exp(sink - peak), peak


def weighted_values(weights: Array, values: Array, may_look: Array | None = None) -> Array:
    """Step 5: weights[i, j] · V[j]: keeps what matters, drowns the rest: (..., H, N, M, d_v)."""
    xp = namespace(values)
    each = values[..., None, :, :]
    if may_look is not None:
        each = xp.where(may_look[..., None], each, xp.zeros_like(each))
    return weights[..., None] * each


def head_outputs(weighted_values: Array) -> Array:
    """Step 6: Z, the sum over j: (..., H, N, d_v)."""
    return namespace(weighted_values).sum(weighted_values, axis=-2)


def concatenated(head_outputs: Array) -> Array:
    """Step 7: the heads side by side: (..., H, N, d_v) → (..., N, H · d_v)."""
    side_by_side = namespace(head_outputs).moveaxis(head_outputs, -3, -2)
    *lead, heads, width = side_by_side.shape
    return side_by_side.reshape((*lead, heads * width))


def output(concatenated: Array, w_o: Array, b_o: Array | None = None) -> Array:
    """Step 8: what the layer passes on, concatenated · W_O: (..., N, width)."""
    return concatenated @ w_o if b_o is None else concatenated @ w_o + b_o


@dataclass(frozen=True, eq=False, repr=False)
class Steps:
    """Every step of one layer by its name, each (..., H, N or M, …); ``may_look`` is the mask."""

    queries: Array
    keys: Array
    values: Array
    scores: Array
    scaled_scores: Array
    weights: Array
    head_outputs: Array
    concatenated: Array
    output: Array
    may_look: Array

    @property
    def weighted_values(self) -> Array:
        """Step 5, (..., H, N, M, d_v), made when asked for: d_v times as large as the rest."""
        each = per_head(self.values, self.scores.shape[-3])
        return weighted_values(self.weights, each, self.may_look)

    def __repr__(self) -> str:
        return f"Steps(width={self.output.shape[-1]}, scores={tuple(self.scores.shape)})"


def multi_head_steps(
    x: Array,
    matrices: Mapping[str, Any],
    heads: int,
    *,
    kv_heads: int | None = None,
    memory: Array | None = None,
    mask: Mask | Array | None = None,
) -> Steps:
    """All eight steps of one layer: ``x`` (..., N, width) looks at ``memory``, or at itself.

    ``matrices`` holds w_q, w_k, w_v, w_o, each (in, out), and b_q, b_k, b_v, b_o where there are
    any.
    """
    source, groups = (x if memory is None else memory), (kv_heads or heads)
    q = _apart(queries(x, matrices["w_q"], matrices.get("b_q")), heads)
    k = _apart(keys(source, matrices["w_k"], matrices.get("b_k")), groups)
    v = _apart(values(source, matrices["w_v"], matrices.get("b_v")), groups)
    call = read(q, k, v, mask)
    may_look = may_look_array(call, q)
    each_q, each_k, each_v = without_unseen(q, per_head(k, heads), per_head(v, heads), may_look)
    raw = _scores(each_q, each_k, may_look)
    scaled = scaled_scores(raw, call.scale)
    shares = weights(scaled, may_look)
    z = _head_outputs(shares, each_v, may_look)
    side_by_side = concatenated(z)
    out = output(side_by_side, matrices["w_o"], matrices.get("b_o"))
    return Steps(q, k, v, raw, scaled, shares, z, side_by_side, out, may_look)


def attention(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Mask | Array | None = None,
    bias: Array | Alibi | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Array | None = None,
    observe: Observe | None = None,
) -> Any:
    """``clearhead.attention`` in plain steps, with N × M memory: what the fused path must equal.

    Same arguments, same results. It computes in the kind it is given (half kinds in float32).

    >>> import numpy as np
    >>> v = np.array([0.0, 1.0, 2.0]).reshape(1, 3, 1)
    >>> attention(np.zeros((1, 3, 1)), np.zeros((1, 3, 1)), v, mask=np.tri(3, dtype=bool)).tolist()
    [[[0.0], [0.5], [1.0]]]
    """
    call = read(query, key, value, mask, bias, scale, softcap, sinks)
    xp = namespace(query)
    wide = getattr(xp, observed_kind(call.kind))
    q, k, v = (xp.astype(x, wide) for x in (query, key, value))
    added = bias_array(call, q)
    may_look = may_look_array(call, q, added)
    heads = call.sizes.heads
    q, k, v = without_unseen(q, per_head(k, heads), per_head(v, heads), may_look)
    s = scaled_scores(_scores(q, k, may_look), call.scale)
    if call.softcap is not None:
        s = call.softcap * xp.tanh(s / call.softcap)
    if added is not None:
        s = s + added
    sink = None
    if call.sinks is not None:
        sink = xp.astype(in_library_of(call.sinks, q), wide)[:, None, None]
    out = _head_outputs(weights(s, may_look, sink), v, may_look)
    out = xp.astype(out, query.dtype)
    if observe is None:
        return out
    return out, observed(observe, call, s, may_look, *softmax_parts(s, may_look, sink))


def _apart(projected: Array, heads: int) -> Array:
    """(..., N, H · d) → (..., H, N, d)."""
    *lead, length, width = projected.shape
    apart = projected.reshape((*lead, length, heads, width // heads))
    return namespace(apart).moveaxis(apart, -2, -3)


def _scores(queries: Array, keys: Array, may_look: Array) -> Array:
    """Step 2; pair by pair where NaN or infinity must not reach the gradients of other pairs."""
    if is_finite(queries, keys):
        return scores(queries, keys)
    xp = namespace(queries)
    rows = []
    for i in range(queries.shape[-2]):
        may = may_look[..., i, :, None]
        q, k = queries[..., i, None, :], keys
        chosen = xp.where(may, q, xp.zeros_like(q)) * xp.where(may, k, xp.zeros_like(k))
        rows.append(xp.sum(chosen, axis=-1))
    return xp.stack(rows, axis=-2)


def _head_outputs(weights: Array, values: Array, may_look: Array) -> Array:
    """Steps 5 and 6 without (N, M, d_v) in memory; row by row where NaN must be kept apart."""
    if is_finite(values):
        return weights @ values
    rows = []
    for i in range(weights.shape[-2]):
        row = slice(i, i + 1)
        each = weighted_values(weights[..., row, :], values, may_look[..., row, :])
        rows.append(head_outputs(each))
    return namespace(weights).concat(rows, axis=-2)
