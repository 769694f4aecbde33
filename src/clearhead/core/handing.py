"""Arrays as the native module takes them, and the room for what it will see."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from clearhead.core.observation import Observation, Observe
from clearhead.errors import KindError
from clearhead.inputs.arrays import Array, observed_kind
from clearhead.inputs.call import Call
from clearhead.inputs.resolved import CONDITIONS, ResolvedMask
from clearhead.inputs.shapes import show

__all__ = ["Seen", "empty", "handed", "handed_mask"]

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def empty(shape: tuple[int, ...], kind: Any, torch: Any) -> Array:
    """A new array of NumPy (``torch`` is None) or torch, not filled."""
    return np.empty(shape, kind) if torch is None else torch.empty(shape, dtype=kind)


def handed(x: Array) -> Any:
    """As the native module takes arrays: NumPy as it is, torch as (address, shape, strides)."""
    if isinstance(x, np.ndarray):
        return x.view(np.uint16) if x.dtype == _BFLOAT16 else x  # no buffer knows bfloat16
    return x.data_ptr() or _nowhere(x), x.shape, x.stride()


def _nowhere(x: Array) -> int:
    """For an empty tensor any address but 0, which says absent; what only describes has none."""
    if x.numel():
        raise KindError(
            f"attention: found a {type(x).__name__} of shape {show(x.shape)} without memory; "
            "wanted a tensor with numbers in it; call outside of the tracing that made it"
        )
    return 64


def handed_mask(mask: ResolvedMask) -> tuple[Any, ...]:
    """The conditions of a mask in the order of ``Mask`` in native/attention.h."""
    return tuple([getattr(mask, name) for name in CONDITIONS])


class Seen(NamedTuple):
    """The arrays of an observation, empty until the native pass fills them."""

    arrays: dict[str, Array]
    top: int
    received_last: int
    blocks: tuple[int, int]
    rows: Any

    @classmethod
    def make(cls, call: Call, observe: Observe, torch: Any) -> Seen:
        """Room for all that ``observe`` asks of ``call``."""
        axes = call.sizes
        xp: Any = np if torch is None else torch
        wide = getattr(xp, observed_kind(call.kind))
        heads = (*axes.batch, axes.heads)
        arrays = {"visible": empty((*heads, axes.queries), xp.bool if torch else np.bool_, torch)}

        def add(name: str, *shape: int, kind: Any = wide) -> None:
            arrays[name] = empty((*heads, *shape), kind, torch)

        if observe.top:
            add("top_keys", axes.queries, observe.top, kind=xp.int32)
            add("top_weights", axes.queries, observe.top)
        if observe.entropy:
            add("entropy", axes.queries)
        if observe.lse:
            add("lse", axes.queries)
        if observe.receives:
            add("received", axes.keys)
        tall = across = 1
        if observe.map is not None:
            tall, down = observe.blocks(axes.queries)
            across, columns = observe.blocks(axes.keys)
            add("map", down, columns)
        chosen = observe.row_indices(axes.queries)
        rows = None if chosen is None else np.asarray(chosen, np.int64)
        if rows is not None:
            add("rows", len(rows), axes.keys)
        if observe.weights:
            add("weights", axes.queries, axes.keys)
        last = observe.received_last
        return cls(arrays, observe.top, -1 if last is None else last, (tall, across), rows)

    def handed(self) -> tuple[Any, ...]:
        """In the order that native/bindings/arguments.cpp reads."""

        def put(name: str) -> Any:
            array = self.arrays.get(name)
            return None if array is None else handed(array)

        return (
            put("visible"),
            self.top,
            put("top_keys"),
            put("top_weights"),
            put("entropy"),
            put("lse"),
            put("received"),
            self.received_last,
            put("map"),
            *self.blocks,
            self.rows,
            0 if self.rows is None else len(self.rows),
            put("rows"),
            put("weights"),
        )

    def observation(self) -> Observation:
        """The filled arrays by their names."""
        return Observation(**self.arrays)
