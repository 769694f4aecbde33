"""Attention in one fused pass: arguments are read, the native kernel runs, what was seen returns.

Nothing is copied on the way in: the kernel reads NumPy arrays and torch CPU tensors where they lie,
whatever their strides. Nothing of size N × M is made unless ``rows`` or ``weights`` ask for it.
"""

from __future__ import annotations

import sys
from typing import Any, overload

import numpy as np

from clearhead.core.handing import Seen, empty, handed, handed_mask, introduce, is_traced
from clearhead.core.observation import Observation, Observe
from clearhead.core.openmp import native
from clearhead.errors import ArgumentError, KindError, MemoryLimitError, ShapeError
from clearhead.inputs.arrays import KINDS, Array, as_numpy, is_torch, observed_kind, readable
from clearhead.inputs.biases import Alibi, bias_view
from clearhead.inputs.call import Call, read
from clearhead.inputs.masks import Mask
from clearhead.inputs.shapes import fits_in_memory

__all__ = ["attention"]

_CODES = {kind: code for code, kind in enumerate(KINDS)}
_SIZES = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2}


@overload
def attention(
    query: Array, key: Array, value: Array, *, mask: Mask | Array | None = None,
    bias: Array | Alibi | None = None, scale: float | None = None, softcap: float | None = None,
    sinks: Array | None = None, observe: None = None,
) -> Array: ...  # fmt: skip


@overload
def attention(
    query: Array, key: Array, value: Array, *, mask: Mask | Array | None = None,
    bias: Array | Alibi | None = None, scale: float | None = None, softcap: float | None = None,
    sinks: Array | None = None, observe: Observe,
) -> tuple[Array, Observation]: ...  # fmt: skip


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
    """Exact multi-head attention, and what every position looks at.

    out = softmax(softcap(query · keyᵀ · scale) + bias, over the keys that ``mask`` allows) · value

    Args:
        query: (..., H, N, d_k), a NumPy array or torch tensor of float32, float64, float16 or
            bfloat16, any strides.
        key: (..., H_kv, M, d_k), of the same kind and library. H is a multiple of H_kv: query head
            h uses key head h // (H / H_kv).
        value: (..., H_kv, M, d_v).
        mask: who may look at whom: ``causal()``, ``window``, ``lengths``, ``segments``, joined with
            ``&``, or a boolean array that broadcasts to (..., H, N, M), True = may look. A query
            that may look at nothing gives 0.
        bias: added to the scaled scores: an array that broadcasts from the right, of the query's
            kind or float32, or ``alibi(slopes)``. −inf masks.
        scale: any number up to 1e30 in size (float64: 1e300), 0 and below included; 1 / sqrt(d_k)
            by default.
        softcap: cap · tanh(score / cap), before the bias; None for no cap, as is a cap that the
            kind cannot hold.
        sinks: (H,), one more logit in the sum of each head.
        observe: what to return beside the output, see ``Observe``. Never changes the output.

    Returns:
        out, (..., H, N, d_v), of the kind and library of ``query``; with ``observe`` the pair
        (out, ``Observation``).

    Raises:
        ShapeError, KindError, MaskError, ArgumentError: arguments that do not fit together.
        MemoryLimitError: the result cannot fit in memory; nothing has been touched.

    The pass over tiles of keys is that of Milakov and Gimelshein (2018) and of Dao et al. (2022),
    the formula that of Vaswani et al. (2017, section 3.2).

    Tensors that need a gradient, carry a tangent forward, are on another device, or are traced by
    ``torch.jit.trace``, run torch's own operations. With a bias, softcap, sinks or ``observe``
    these are the plain steps, in memory of N × M for each head; with a mask, memory of N × M for
    each sample.

    >>> import numpy as np, clearhead as ch
    >>> v = np.array([0.0, 1.0, 2.0], np.float32).reshape(1, 3, 1)
    >>> out, seen = ch.attention(v * 0, v * 0, v, mask=ch.causal(), observe=ch.Observe(top=1))
    >>> out.ravel().tolist(), seen.top_keys.ravel().tolist()
    ([0.0, 0.5, 1.0], [0, 0, 0])
    """
    plain = bias is None and softcap is None and sinks is None
    if plain and (type(query) is np.ndarray or not is_traced()):
        # Looked at natively, in 1 us; None for all that is unusual or wrong, which goes on below.
        if observe is None:
            out = native.plain(query, key, value, scale, mask, handed_mask, None)
            if out is not None:
                return out
        elif type(observe) is Observe and observe.goes_by:
            room: list[Seen] = []

            def seen_by(shape: tuple[int, ...], keys: int) -> tuple[Any, ...]:
                room.append(Seen.make(observe, shape[:-1], keys, query))
                return room[0].handed()

            out = native.plain(query, key, value, scale, mask, handed_mask, seen_by)
            if out is not None:
                return out, room[0].observation()
    call = read(query, key, value, mask, bias, scale, softcap, sinks)
    if observe is not None and not isinstance(observe, Observe):
        raise KindError(
            f"observe: found {type(observe).__name__}; wanted an Observe, for example "
            "observe=clearhead.Observe(top=8)"
        )
    torch = None
    if type(query) is not np.ndarray and is_torch(query):
        torch = sys.modules["torch"]
        introduce(torch)
        from clearhead.core import torch_bridge

        if torch_bridge.needs_torch(call, query, key, value):
            return torch_bridge.attention(
                call, query, key, value, observe, mask=mask, bias=bias, scale=scale,
                softcap=softcap, sinks=sinks,
            )  # fmt: skip
    _check_memory(call, observe)
    *lead, _ = query.shape
    out = empty((*lead, call.sizes.d_v), query.dtype, torch)
    seen = None
    if observe is not None:
        seen = Seen.make(observe, tuple(query.shape[:-1]), call.sizes.keys, query)
    _run(call, query, key, value, out, seen)
    if seen is None:
        return out
    return out, seen.observation()


def _run(call: Call, query: Array, key: Array, value: Array, out: Array, seen: Seen | None) -> None:
    mask, softcap = call.mask, call.softcap
    # Kept by name until the kernel is done: the kernel knows of a tensor its address alone.
    query, key, value = readable(query), readable(key), readable(value)
    extras = None
    if call.bias is not None or call.alibi is not None or call.sinks is not None:
        extras = _extras(call)
    try:
        native.attention(
            _CODES[call.kind],
            handed(query),
            handed(key),
            handed(value),
            handed(out),
            call.scale,
            0.0 if softcap is None else softcap,
            None if mask.everything else mask.handed,
            extras,
            None if seen is None else seen.handed(),
        )
    except MemoryError as error:
        raise MemoryLimitError(
            "attention: found no memory for the scratch of this call; wanted about 64 rows of "
            "queries, keys and values for each thread; call with fewer queries, or set_threads(1)"
        ) from error
    except ValueError as error:  # sizes are checked once more where they are used
        raise ShapeError(f"attention: {error}") from error
    except RuntimeError as error:  # CLEARHEAD_ISA names what cannot run
        raise ArgumentError(str(error)) from error


def _extras(call: Call) -> tuple[Any, ...]:
    bias, code, slopes, anchor, sinks = None, 0, None, None, None
    if call.bias is not None:
        view = as_numpy(bias_view(call.bias, call.sizes))
        code = _CODES[str(view.dtype)]
        bias = handed(readable(view))
    if call.alibi is not None:
        slopes, anchor = call.alibi.per_head(call.sizes.heads), call.mask.anchor
    if call.sinks is not None:
        sinks = np.ascontiguousarray(as_numpy(call.sinks).astype(np.float64))
    return bias, code, slopes, anchor, sinks


def _check_memory(call: Call, observe: Observe | None) -> None:
    """Refuse outputs that cannot fit, before anything is touched."""
    axes = call.sizes
    heads = axes.samples * axes.heads
    wanted = heads * axes.queries * axes.d_v * _SIZES[call.kind]
    if observe is not None:
        wide = _SIZES[observed_kind(call.kind)]
        per_query = 4 + 4 * wide + observe.top * (4 + wide)
        per_key = wide * (len(observe.rows or ()) + 1)
        if observe.weights:
            per_key += wide * axes.queries
        wanted += heads * (axes.queries * per_query + axes.keys * per_key)
        if observe.map is not None:
            _, down = observe.blocks(axes.queries)
            _, across = observe.blocks(axes.keys)
            wanted += heads * down * across * wide
    fits_in_memory(wanted, "attention")
