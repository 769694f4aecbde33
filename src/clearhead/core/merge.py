"""Partial results over different keys, joined exactly by their log-sum-exp.

Z = Σ_j exp(s_j) V_j / Σ_j exp(s_j) splits over any parts A, B of the keys (Milakov and Gimelshein
2018, section 3.1):

    lse = ln(exp(lse_a) + exp(lse_b)),   Z = Z_a · exp(lse_a − lse) + Z_b · exp(lse_b − lse)
"""

from __future__ import annotations

import math

from clearhead.errors import KindError, ShapeError
from clearhead.inputs.arrays import Array, is_torch, kind, namespace, observed_kind
from clearhead.inputs.shapes import show

__all__ = ["merge"]


def merge(out_a: Array, lse_a: Array, out_b: Array, lse_b: Array) -> tuple[Array, Array]:
    """The output and lse over the keys of both parts, as one call over all of them would give.

    ``out_a``, ``out_b`` (..., N, d_v) are of one kind; ``lse_a``, ``lse_b`` (..., N) come from
    ``Observe(lse=True)``. Returns (out, lse) of those kinds. A query that sees nothing in one part
    has lse −inf there and takes the other part bit for bit; one that sees nothing in either stays 0
    with −inf. Sinks are part of an lse: give them to one part only.

    Raises ``ShapeError`` where the shapes differ, ``KindError`` where the kinds do.

    >>> import numpy as np
    >>> out, lse = merge(np.array([[1.0]]), np.array([0.0]), np.array([[3.0]]), np.array([0.0]))
    >>> out.tolist(), float(np.exp(lse[0]).round(12))
    ([[2.0]], 2.0)
    """
    _check(out_a, lse_a, out_b, lse_b)
    xp = namespace(out_a)
    wide = getattr(xp, observed_kind(kind(out_a)))
    a, b = (xp.astype(lse, wide)[..., None] for lse in (lse_a, lse_b))
    peak = xp.maximum(a, b)
    nothing = peak == -math.inf
    peak = xp.where(nothing, xp.zeros_like(peak), peak)
    part_a, part_b = xp.exp(a - peak), xp.exp(b - peak)
    total = part_a + part_b
    share_a, share_b = (p / xp.where(nothing, xp.ones_like(total), total) for p in (part_a, part_b))
    mixed = _taken(out_a, share_a) + _taken(out_b, share_b)
    lse = peak + xp.log(xp.where(nothing, xp.ones_like(total), total))
    lse = xp.where(nothing, xp.full_like(lse, -math.inf), lse)[..., 0]
    return xp.astype(mixed, out_a.dtype), xp.astype(lse, lse_a.dtype)


def _taken(out: Array, share: Array) -> Array:
    """A part's output times its share; where the share is 0 nothing of it, not even NaN."""
    xp = namespace(share)
    values = xp.astype(out, share.dtype)
    return xp.where(share == 0, xp.zeros_like(values), values) * share


def _check(out_a: Array, lse_a: Array, out_b: Array, lse_b: Array) -> None:
    names = ("out_a", "lse_a", "out_b", "lse_b")
    given = (out_a, lse_a, out_b, lse_b)
    kinds = [kind(x, name) for x, name in zip(given, names, strict=True)]
    libraries = ["torch" if is_torch(x) else "numpy" for x in given]
    if kinds[0] != kinds[2] or kinds[1] != kinds[3] or len(set(libraries)) > 1:
        found = ", ".join(
            f"{n} {lib} {k}" for n, lib, k in zip(names, libraries, kinds, strict=True)
        )
        raise KindError(
            f"merge: found {found}; wanted both outputs of one kind, both lse of one kind, all in "
            "one library; convert the odd one"
        )
    shapes = [tuple(x.shape) for x in given]
    if shapes[0] != shapes[2] or shapes[1] != shapes[3] or shapes[0][:-1] != shapes[1]:
        raise ShapeError(
            f"merge: found out_a, lse_a, out_b, lse_b of shapes {show(*shapes)}; wanted (..., N, "
            "d_v) and (..., N) twice: the same queries in both parts"
        )
