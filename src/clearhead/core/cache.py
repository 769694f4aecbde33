"""Keys and values of what was seen so far, for decoding one step at a time."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from clearhead.errors import ArgumentError, CacheError, KindError, ShapeError
from clearhead.inputs import masks
from clearhead.inputs.arrays import KINDS, Array, in_library_of, is_torch, kind
from clearhead.inputs.integers import integers, least, most, per_sample
from clearhead.inputs.options import whole_number
from clearhead.inputs.shapes import fits_in_memory, show

__all__ = ["KVCache"]


class KVCache:
    """Storage of (batch, kv_heads, capacity, d) for keys and values; a length for each sample.

    ``dtype`` is a NumPy dtype or its name ("float32", ``ml_dtypes.bfloat16``) for NumPy storage, a
    torch dtype for torch storage on the CPU. The kind never changes: an append of another kind is
    refused. Rows that no append has counted are never written.

    >>> import numpy as np
    >>> cache = KVCache(batch=2, kv_heads=1, capacity=8, d_k=4, d_v=4, dtype="float32")
    >>> five, two = np.ones((2, 1, 5, 4), np.float32), np.ones((2, 1, 2, 4), np.float32)
    >>> cache.append(five, five, lengths=[5, 3])
    >>> cache.append(two, two, lengths=[2, 1])
    >>> cache.lengths.tolist()
    [7, 4]
    >>> cache.mask()
    lengths(keys=[7, 4], queries=[2, 1]) & causal(align='end')
    """

    def __init__(
        self, batch: int, kv_heads: int, capacity: int, d_k: int, d_v: int, dtype: Any
    ) -> None:
        self.batch, self.kv_heads, self.capacity, self.d_k, self.d_v = (
            whole_number(number, name, 0)
            for name, number in (
                ("batch", batch),
                ("kv_heads", kv_heads),
                ("capacity", capacity),
                ("d_k", d_k),
                ("d_v", d_v),
            )
        )
        self._keys = _storage((self.batch, self.kv_heads, self.capacity, self.d_k), dtype)
        self._values = _storage((self.batch, self.kv_heads, self.capacity, self.d_v), dtype)
        self._lengths = np.zeros(self.batch, np.int64)
        self._appended = np.zeros(self.batch, np.int64)
        self._even = True  # whether all of them are as long as each other

    @property
    def keys(self) -> Array:
        """All of the storage, (batch, kv_heads, capacity, d_k); valid up to ``lengths``."""
        return self._keys

    @property
    def values(self) -> Array:
        """All of the storage, (batch, kv_heads, capacity, d_v); valid up to ``lengths``."""
        return self._values

    @property
    def lengths(self) -> Array:
        """How many positions of each sample are valid: (batch,) integers, a copy."""
        return in_library_of(self._lengths.copy(), self._keys)

    def append(self, k: Array, v: Array, lengths: Array | int | None = None) -> None:
        """Write ``k`` and ``v``, both (batch, kv_heads, T, d), behind what is there.

        ``lengths`` says how many of the T count, for each sample or one number for all; by default
        all of them. Raises ``CacheError`` past the capacity and ``ShapeError``, ``KindError`` or
        ``ArgumentError`` for what does not fit; then nothing has been written.
        """
        self._check(k, "k", self._keys)
        self._check(v, "v", self._values)
        steps = int(k.shape[2])
        if v.shape[2] != steps:
            raise ShapeError(
                f"k and v: found {steps} and {v.shape[2]} positions; wanted as many values as keys"
            )
        counts = self._counts(lengths, steps)
        ends = self._lengths + counts
        if most(ends) > self.capacity:
            sample = int(ends.argmax())
            raise CacheError(
                f"cache: found {int(self._lengths[sample])} positions in sample {sample} and "
                f"{int(counts[sample])} more; wanted at most its capacity of {self.capacity}; "
                "make a KVCache of greater capacity; nothing has been written"
            )
        if is_torch(k) and (k.requires_grad or v.requires_grad):
            k, v = k.detach(), v.detach()
        # Samples that are as long as each other, as most are, are written at once.
        whole = lengths is None and self._even
        for storage, new in ((self._keys, k), (self._values, v)):
            if whole and ends.size:
                end = int(ends[0])
                storage[:, :, end - steps : end] = new
            else:
                self._write(storage, new, counts, ends)
        self._lengths, self._appended = ends, counts
        self._even = whole or _are_equal(ends)

    def mask(self) -> masks.Mask:
        """What the queries of the last append may look at, each up to its own position.

        ``lengths(keys=cache.lengths, queries=those of the last append) & causal(align="end")``.
        """
        return _mask(self._lengths.tobytes(), self._appended.tobytes())

    def _write(
        self, storage: Array, new: Array, counts: npt.NDArray[Any], ends: npt.NDArray[Any]
    ) -> None:
        if self.batch and _are_equal(counts) and _are_equal(ends):
            count, end = int(counts[0]), int(ends[0])
            storage[:, :, end - count : end] = new[:, :, :count]
            return
        for sample, (count, end) in enumerate(zip(counts.tolist(), ends.tolist(), strict=True)):
            storage[sample, :, end - count : end] = new[sample, :, :count]

    def _counts(self, lengths: Array | int | None, steps: int) -> npt.NDArray[np.int64]:
        if lengths is None:
            return np.full(self.batch, steps, np.int64)
        counts = per_sample(integers(lengths, "lengths"), (self.batch,), "lengths")
        if least(counts) < 0 or most(counts) > steps:
            raise ArgumentError(
                f"lengths: found {counts.tolist()}; wanted 0 … {steps}, the positions handed in"
            )
        return counts

    def _check(self, new: Array, name: str, storage: Array) -> None:
        found, wanted = kind(new, name), kind(storage)
        if found != wanted or is_torch(new) != is_torch(storage):
            library, own = ("torch" if is_torch(x) else "numpy" for x in (new, storage))
            raise KindError(
                f"{name}: found {library} {found}; wanted {own} {wanted}, the kind of the cache; "
                f"make the cache with dtype={name}.dtype, or convert {name}"
            )
        if is_torch(new) and (new.is_meta or new.layout is not storage.layout):
            what = "no memory (device meta)" if new.is_meta else f"layout {new.layout}"
            raise KindError(f"{name}: found a tensor of {what}; wanted a dense one with numbers")
        shape = tuple(new.shape)
        fixed = (self.batch, self.kv_heads, storage.shape[3])
        if len(shape) != 4 or (shape[0], shape[1], shape[3]) != fixed:
            raise ShapeError(
                f"{name}: found shape {show(shape)}; wanted ({fixed[0]}, {fixed[1]}, positions, "
                f"{fixed[2]}) = (batch, kv_heads, T, d)"
            )

    def __repr__(self) -> str:
        return (
            f"KVCache(batch={self.batch}, kv_heads={self.kv_heads}, capacity={self.capacity}, "
            f"d_k={self.d_k}, d_v={self.d_v}, dtype={self._keys.dtype}, "
            f"lengths={self._lengths.tolist()})"
        )


@lru_cache(maxsize=16)
def _mask(lengths: bytes, appended: bytes) -> masks.Mask:
    """One mask for the caches of all layers, which are as long as each other: it is read once."""
    keys, queries = np.frombuffer(lengths, np.int64), np.frombuffer(appended, np.int64)
    return masks.lengths(keys=keys, queries=queries) & masks.causal(align="end")


def _are_equal(numbers: npt.NDArray[Any]) -> bool:
    return least(numbers) == most(numbers)


def _storage(shape: tuple[int, ...], dtype: Any) -> Array:
    """Zeros, which the system hands out page by page as they are written."""
    if str(dtype).startswith("torch."):
        name = str(dtype).removeprefix("torch.")
    else:
        try:
            name = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype).name
        except TypeError:
            name = repr(dtype)
        name = "None" if dtype is None else name  # NumPy would take it for float64
    if name not in KINDS:
        raise KindError(f"dtype: found {name}; wanted one of {', '.join(KINDS)}")
    size = {"float64": 8, "float32": 4}.get(name, 2)
    fits_in_memory(int(np.prod(shape, dtype=object)) * size, "cache")
    if str(dtype).startswith("torch."):
        return sys.modules["torch"].zeros(shape, dtype=dtype)
    return np.zeros(shape, ml_dtypes.bfloat16 if name == "bfloat16" else name)
