"""Arrays as the native module takes them, and the room for what it will see."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

from clearhead.core.observation import Observation, Observe
from clearhead.core.openmp import native
from clearhead.errors import KindError
from clearhead.inputs.arrays import KINDS, Array
from clearhead.inputs.masks import Mask, resolve
from clearhead.inputs.shapes import show

__all__ = ["Seen", "empty", "handed", "handed_mask", "introduce", "is_traced"]

_introduced: list[Any] = []  # torch, once a tensor came by
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_DTYPES = tuple(_BFLOAT16 if kind == "bfloat16" else np.dtype(kind) for kind in KINDS)


def empty(shape: tuple[int, ...], kind: Any, torch: Any) -> Array:
    """A new array of NumPy (``torch`` is None) or torch, not filled."""
    if torch is None:
        return np.empty(shape, kind)
    return torch.empty(shape, dtype=kind, device="cpu")  # whatever torch.set_default_device says


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


def handed_mask(
    mask: Mask | Array, shape: tuple[int, ...], keys: int
) -> tuple[npt.NDArray[Any] | None, ...] | None:
    """The conditions of a mask beside an output of ``shape`` (..., H, N, d_v); None for none."""
    resolved = resolve(mask, shape[:-3], shape[-3], shape[-2], keys)
    return None if resolved.everything else resolved.handed


@cache
def introduce(torch: Any) -> None:
    """Tell the native module of torch, so that it looks at plain tensors itself.

    It does so by a table of functions that torch has since 2.10; without it Python looks.
    """
    _introduced.append(torch)
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if capsule is not None:
        native.use_torch(torch.Tensor, capsule)


def is_traced() -> bool:
    """Whether torch follows what it does itself, and would miss the native module.

    ``torch.jit.trace`` and dispatch modes (``make_fx``, counters of operations) write it down;
    forward-mode differentiation carries tangents along.
    """
    if not _introduced:
        return False
    torch = _introduced[0]
    if torch.autograd.forward_ad._current_level >= 0:
        return True
    return torch._C._get_tracing_state() is not None or torch._C._len_torch_dispatch_stack() > 0


native.use_numpy(np.ndarray, np.empty, _DTYPES)


class Seen(NamedTuple):
    """The arrays of an observation, empty until the native pass fills them."""

    arrays: dict[str, Array]
    top: int
    received_last: int
    blocks: tuple[int, int]
    rows: Any

    @classmethod
    def make(cls, observe: Observe, shape: tuple[int, ...], keys: int, query: Array) -> Seen:
        """Room for all that ``observe`` asks of (..., H, N) queries, ``shape``, of one kind."""
        torch = None if isinstance(query, np.ndarray) else sys.modules["torch"]
        xp: Any = np if torch is None else torch
        wide = xp.float64 if query.dtype == xp.float64 else xp.float32
        *heads, queries = shape
        arrays = {"visible": empty(shape, np.bool_ if torch is None else xp.bool, torch)}

        def add(name: str, *last: int, kind: Any = wide) -> None:
            arrays[name] = empty((*heads, *last), kind, torch)

        if observe.top:
            add("top_keys", queries, observe.top, kind=xp.int32)
            add("top_weights", queries, observe.top)
        if observe.entropy:
            add("entropy", queries)
        if observe.lse:
            add("lse", queries)
        if observe.receives:
            add("received", keys)
        tall = across = 1
        if observe.map is not None:
            tall, down = observe.blocks(queries)
            across, columns = observe.blocks(keys)
            add("map", down, columns)
        chosen = observe.row_indices(queries)
        rows = None if chosen is None else np.asarray(chosen, np.int64)
        if rows is not None:
            add("rows", len(rows), keys)
        if observe.weights:
            add("weights", queries, keys)
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
