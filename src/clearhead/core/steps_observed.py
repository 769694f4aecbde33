"""The observations of the plain steps, each as its definition says, with N × M memory.

p[i, j] = exp(s[i, j] − peak[i]) / sum[i], and 0 where the mask hides j from i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clearhead.core.observation import Observation, Observe
from clearhead.inputs.arrays import Array, in_library_of, namespace
from clearhead.inputs.call import Call

__all__ = ["observed"]


def observed(
    observe: Observe, call: Call, s: Array, may_look: Array, exps: Array, total: Array, peak: Array
) -> Observation:
    """What ``observe`` asks for, from the scores ``s`` (..., H, N, M) that made the output."""
    xp = namespace(s)
    looks = xp.any(may_look, axis=-1) & xp.ones(s.shape[:-1], dtype=xp.bool)  # (..., H, N)
    p = exps / xp.where(total == 0, xp.ones_like(total), total)
    found: dict[str, Any] = {"visible": looks}
    lse = _lse(total, peak)
    if observe.top:
        found["top_keys"], found["top_weights"] = _top(observe.top, s, p, may_look)
    if observe.entropy:
        found["entropy"] = _entropy(s, p, total, peak)
    if observe.lse:
        found["lse"] = lse
    if observe.receives:
        found["received"] = _received(observe, call, p, looks)
    if observe.map is not None:
        found["map"] = _map(observe, p, looks)
    rows = observe.row_indices(call.sizes.queries)
    if rows is not None:
        chosen = in_library_of(np.asarray(rows, np.int64), p)
        found["rows"] = xp.take(p, chosen, axis=-2)
    if observe.weights:
        found["weights"] = p
    return Observation(**found)


def _lse(total: Array, peak: Array) -> Array:
    xp = namespace(total)
    nothing = total == 0
    sums = peak + xp.log(xp.where(nothing, xp.ones_like(total), total))
    return xp.where(nothing, xp.full_like(sums, -xp.inf), sums)[..., 0]


def _entropy(s: Array, p: Array, total: Array, peak: Array) -> Array:
    """−Σ p ln p with ln p = (s − peak) − ln total: large scores leave before anything else.

    Terms with p = 0 are 0, in the gradient too.
    """
    xp = namespace(s)
    none = xp.zeros_like(s)
    has = ~(p == 0)  # NaN is kept
    logs = xp.where(has, s - peak, none) - xp.log(xp.where(has, total, xp.ones_like(s)))
    return -xp.sum(xp.where(has, p * logs, none), axis=-1)


def _top(k: int, s: Array, p: Array, may_look: Array) -> tuple[Array, Array]:
    xp = namespace(s)
    may = may_look & xp.ones_like(s, dtype=xp.bool)
    none = xp.full_like(s, -xp.inf)
    known = xp.where(may & ~xp.isnan(s), s, none)  # NaN beside −∞, but before what is hidden
    order = xp.argsort(-known, axis=-1, stable=True)
    hidden = xp.astype(~xp.take_along_axis(may, order, axis=-1), xp.int32)
    order = xp.take_along_axis(order, xp.argsort(hidden, axis=-1, stable=True), axis=-1)[..., :k]
    there = xp.take_along_axis(may, order, axis=-1)
    chosen = xp.take_along_axis(p, order, axis=-1)
    keys = xp.astype(xp.where(there, order, xp.full_like(order, -1)), xp.int32)
    shares = xp.where(there, chosen, xp.zeros_like(chosen))
    missing = k - keys.shape[-1]
    if missing:
        keys, shares = _more(keys, missing, -1, -1), _more(shares, missing, -1, 0)
    return keys, shares


def _received(observe: Observe, call: Call, p: Array, looks: Array) -> Array:
    xp = namespace(p)
    counted = looks
    last = observe.received_last
    if last is not None:
        valid = call.mask.query_lengths
        ends = np.full(call.sizes.samples, call.sizes.queries) if valid is None else valid
        i = np.arange(call.sizes.queries)
        within = (i < ends[:, None]) & (i >= ends[:, None] - last)  # (B, N)
        within = within.reshape(*call.sizes.batch, 1, call.sizes.queries)
        counted = looks & in_library_of(within, p)
    live = xp.sum(xp.astype(counted, p.dtype), axis=-1)[..., None]
    mass = xp.sum(xp.where(counted[..., None], p, xp.zeros_like(p)), axis=-2)
    return mass / xp.where(live == 0, xp.ones_like(live), live)


def _map(observe: Observe, p: Array, looks: Array) -> Array:
    xp = namespace(p)
    *lead, queries, keys = p.shape
    tall, rows = observe.blocks(queries)
    wide, columns = observe.blocks(keys)
    if not rows or not columns:
        return xp.zeros((*lead, rows, columns), dtype=p.dtype)
    whole = _more(_more(p, wide * columns - keys, -1, 0), tall * rows - queries, -2, 0)
    live = xp.astype(_more(looks, tall * rows - queries, -1, 0), p.dtype)
    live = xp.sum(live.reshape((*lead, rows, tall)), axis=-1)[..., None]
    mass = xp.sum(whole.reshape((*lead, rows, tall, columns, wide)), axis=(-3, -1))
    return mass / xp.where(live == 0, xp.ones_like(live), live)


def _more(x: Array, count: int, axis: int, fill: int) -> Array:
    """``x`` with ``count`` entries of ``fill`` behind it along ``axis``."""
    xp = namespace(x)
    shape = list(x.shape)
    shape[axis] = count
    return xp.concat([x, xp.full(shape, fill, dtype=x.dtype, device=x.device)], axis=axis)
