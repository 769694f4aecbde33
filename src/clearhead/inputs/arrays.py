"""Which library an array is from, and what it holds, asked without importing any.

Arrays are NumPy arrays or torch tensors. torch is looked up in ``sys.modules``: who hands in a
tensor has imported it already, so nothing here has to.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import array_api_compat
import array_api_compat.numpy
import ml_dtypes
import numpy as np
import numpy.typing as npt

from clearhead.errors import KindError

__all__ = [
    "KINDS",
    "Array",
    "address",
    "as_numpy",
    "in_library_of",
    "is_array",
    "is_torch",
    "kind",
    "namespace",
    "observed_kind",
    "readable",
    "same_kind",
]

Array: TypeAlias = Any
"""A NumPy array or a torch tensor."""

KINDS = ("float32", "float64", "float16", "bfloat16")
"""The kinds that attention computes with. bfloat16 in NumPy is ``ml_dtypes.bfloat16``."""

_NUMPY_KINDS: dict[str, npt.DTypeLike] = {
    "float32": np.float32,
    "float64": np.float64,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}
_seen_kinds: dict[object, str] = {}  # dtype object -> name: a lookup instead of a string per call


def is_torch(x: object) -> bool:
    """Whether ``x`` is a torch tensor; False, and no import, where torch is not loaded."""
    if isinstance(x, np.ndarray):
        return False
    torch = sys.modules.get("torch")
    tensor = getattr(torch, "Tensor", None)
    return tensor is not None and isinstance(x, tensor)


def is_array(x: object) -> bool:
    """Whether ``x`` is a NumPy array (no masked array) or a torch tensor."""
    if type(x) is np.ndarray:
        return True
    return (isinstance(x, np.ndarray) and not isinstance(x, np.ma.MaskedArray)) or is_torch(x)


def namespace(x: Array) -> Any:
    """The array API namespace (``array_api_compat``) of the library ``x`` is from.

    >>> namespace(np.zeros(3)).__name__
    'array_api_compat.numpy'
    """
    if type(x) is np.ndarray:  # what array_namespace finds after a search of several microseconds
        return array_api_compat.numpy
    return array_api_compat.array_namespace(x)


def kind(x: Array, name: str = "array") -> str:
    """The kind of numbers in ``x``: "float32", "float64", "float16" or "bfloat16".

    ``name`` is what the message calls it. Raises ``KindError`` for any other kind, for foreign byte
    order, and for what is no array at all.

    >>> kind(np.zeros(3, np.float32))
    'float32'
    """
    dtype = getattr(x, "dtype", None)
    if type(x) is not np.ndarray and not is_array(x):  # what has the dtype of one is none yet
        raise KindError(_no_array(x, name))
    known = _seen_kinds.get(dtype)
    if known is not None:
        return known
    found = str(dtype).removeprefix("torch.")
    if found not in KINDS:
        raise KindError(
            f"{name}: found kind {found}; wanted one of {', '.join(KINDS)} in native byte order; "
            f"convert it, for example {name}{_cast(x, 'float32')}"
        )
    _seen_kinds[dtype] = found
    return found


def same_kind(query: Array, key: Array, value: Array) -> str:
    """The one kind of the three; ``KindError`` lists all three, and the fix, where they differ."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if type(x) is not np.ndarray and not is_array(x):
            raise KindError(_no_array(x, name))
    found = kind(query, "query")
    if key.dtype == query.dtype == value.dtype and type(key) is type(query) is type(value):
        if type(query) is not np.ndarray:
            _same_place(query, key, value)
        return found
    kinds = (found, kind(key, "key"), kind(value, "value"))
    libraries = tuple("torch" if is_torch(x) else "numpy" for x in (query, key, value))
    if len(set(kinds)) == 1 and len(set(libraries)) == 1:
        _same_place(query, key, value)
        return found
    listed = ", ".join(
        f"{name} {library} {one}"
        for name, library, one in zip(("query", "key", "value"), libraries, kinds, strict=True)
    )
    if len(set(libraries)) > 1:
        fix = "bring them into one library, for example torch.from_numpy(key)"
    else:
        odd = "key" if kinds[1] != kinds[0] else "value"
        fix = f"convert the odd one, for example {odd}{_cast(query, found)}"
    raise KindError(
        f"query, key and value: found {listed}; wanted one kind in one library, since nothing is "
        f"promoted silently; {fix}"
    )


def _same_place(query: Array, key: Array, value: Array) -> None:
    """Tensors must be dense, and lie on one device."""
    if not is_torch(query):
        return
    strided = sys.modules["torch"].strided
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.layout is not strided or x.is_nested:
            raise KindError(
                f"{name}: found a tensor of layout {x.layout}{' (nested)' if x.is_nested else ''}; "
                f"wanted a dense one; pass {name}.to_dense(), or a padded tensor with "
                "lengths(keys=...)"
            )
    if not query.device == key.device == value.device:
        raise KindError(
            f"query, key and value: found devices {query.device}, {key.device}, {value.device}; "
            "wanted one device; move the odd one, for example key.to(query.device)"
        )


def observed_kind(kind: str) -> str:
    """The kind observations have: float64 for float64, float32 for every other."""
    return "float64" if kind == "float64" else "float32"


def as_numpy(x: Array) -> npt.NDArray[Any]:
    """``x`` as a NumPy array: itself, a view of a CPU tensor's memory, or a list made an array.

    Gradients are left behind; a tensor on another device is copied.
    """
    if isinstance(x, np.ndarray):
        return x
    if not is_torch(x):
        return np.asarray(x)
    tensor = x.detach()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # NumPy's own buffers know no bfloat16
        bits = tensor.view(sys.modules["torch"].int16).numpy()
        return bits.view(ml_dtypes.bfloat16)  # type: ignore[no-any-return]
    return tensor.resolve_neg().numpy()  # type: ignore[no-any-return]


def in_library_of(x: Array, other: Array) -> Array:
    """``x`` in the library (and on the device) of ``other``; a view wherever memory is shared."""
    if not is_torch(other):
        return as_numpy(x)
    torch = sys.modules["torch"]
    if not is_torch(x):
        array = np.asarray(x)
        if array.dtype == ml_dtypes.bfloat16:
            x = torch.from_numpy(_writable(array.view(np.int16))).view(torch.bfloat16)
        else:
            x = torch.from_numpy(_writable(array))
    return x if x.device == other.device else x.to(other.device)


def readable(x: Array) -> Array:
    """``x`` so that a kernel may step through it in whole elements; a copy only where it must be.

    Fields of packed records have strides that are no multiple of the element, or begin at an odd
    address; a torch tensor may carry its sign as a flag. Anything else comes back as it is.
    """
    if isinstance(x, np.ndarray):
        steps = 0
        for stride in x.strides:  # sizes are powers of two: one remainder for all of them
            steps |= stride
        if steps % x.itemsize or not x.flags.aligned:
            return np.ascontiguousarray(x).reshape(x.shape)
        return x
    return x.resolve_neg() if x.is_neg() else x


def address(x: Array) -> int:
    """Where the first element of ``x`` lies in memory (CPU)."""
    if isinstance(x, np.ndarray):
        return x.ctypes.data
    return x.data_ptr()  # type: ignore[no-any-return]


def _writable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """torch warns about read-only memory and knows no negative strides: copy in those cases."""
    if array.flags.writeable and all(stride >= 0 for stride in array.strides):
        return array
    if array.ndim and 0 in array.strides and array.size:
        small = array[tuple(slice(0, 1) if not s else slice(None) for s in array.strides)]
        return np.lib.stride_tricks.as_strided(  # broadcast axes stay broadcast
            copy := small.copy(),
            array.shape,
            [t if s else 0 for s, t in zip(array.strides, copy.strides, strict=True)],
        )
    return array.copy()


def _cast(x: Array, kind: str) -> str:
    if is_torch(x):
        return f".to(torch.{kind})"
    return f".astype({'ml_dtypes' if kind == 'bfloat16' else 'numpy'}.{kind})"


def _no_array(x: object, name: str) -> str:
    if isinstance(x, np.ma.MaskedArray):
        fix = f"pass {name}.filled(0), and what is masked as mask="
    elif hasattr(x, "__dlpack__"):
        fix = f"pass numpy.from_dlpack({name})"
    else:
        fix = f"pass numpy.asarray({name}, dtype=numpy.float32)"
    return f"{name}: found {type(x).__name__}; wanted a NumPy array or a torch tensor; {fix}"
