"""Select, never multiply: what the plain steps need so that hidden numbers stay hidden.

0 · NaN is NaN, forwards and in gradients. So what nobody may look at is replaced before it is used,
and a mask decides by itself, never by the values it hides.
"""

from __future__ import annotations

import math

import numpy as np

from clearhead.inputs.arrays import Array, in_library_of, is_torch, namespace
from clearhead.inputs.biases import alibi_bias
from clearhead.inputs.call import Call

__all__ = ["bias_array", "is_finite", "may_look_array", "per_head", "without_unseen"]


def per_head(shared: Array, heads: int) -> Array:
    """Keys or values of each query head: head h has those of h // group, (..., H, M, d)."""
    kv_heads = shared.shape[-3]
    if kv_heads == heads:
        return shared
    return namespace(shared).repeat(shared, heads // kv_heads, axis=-3)


def bias_array(call: Call, like: Array) -> Array | None:
    """What is added to the scores, broadcasting to (..., H, N, M), in the kind of ``like``."""
    xp = namespace(like)
    if call.bias is not None:
        return xp.astype(in_library_of(call.bias, like), like.dtype)
    if call.alibi is not None and call.mask.anchor is not None:
        return alibi_bias(call.alibi, call.mask.anchor, call.sizes, like).reshape(call.sizes.scores)
    return None


def may_look_array(call: Call, like: Array, bias: Array | None = None) -> Array:
    """The mask as booleans that broadcast to (..., H, N, M); a bias of −inf masks too."""
    dense = call.mask.dense(call.sizes.queries, call.sizes.keys)
    samples, heads = dense.shape[:2]
    batch = call.sizes.batch if samples == call.sizes.samples else (1,) * len(call.sizes.batch)
    may = in_library_of(np.ascontiguousarray(dense).reshape(*batch, heads, *dense.shape[2:]), like)
    return may if bias is None else may & (bias != -math.inf)


def without_unseen(
    query: Array, key: Array, value: Array, may_look: Array
) -> tuple[Array, Array, Array]:
    """The three with 0 in queries that see nothing and in keys and values that nobody sees."""
    xp = namespace(query)
    looks = xp.any(may_look, axis=-1)[..., None]
    seen = xp.any(may_look, axis=-2)[..., None]
    return (
        xp.where(looks, query, xp.zeros_like(query)),
        xp.where(seen, key, xp.zeros_like(key)),
        xp.where(seen, value, xp.zeros_like(value)),
    )


def is_finite(*arrays: Array) -> bool:
    """Whether there is no NaN and no infinity in any of them."""
    return all(_finite_sum(x) or bool(namespace(x).all(namespace(x).isfinite(x))) for x in arrays)


def _finite_sum(x: Array) -> bool:
    """Whether the sum says so: one pass where ``isfinite`` makes four, for tensors.

    A sum of finite numbers may still overflow; then each is looked at. NumPy would warn.
    """
    return is_torch(x) and math.isfinite(x.detach().sum().item())
