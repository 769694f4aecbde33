"""Tensors from a safetensors file, opened so that no file, however made, can do harm."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import ml_dtypes  # also teaches NumPy the name "bfloat16", which safetensors asks it for
import numpy as np
from safetensors import SafetensorError, safe_open

from clearhead.errors import ModelError
from clearhead.model.files import regular_file

__all__ = ["TensorFile"]


class TensorFile:
    """An open safetensors file: names and shapes at once, tensors when they are asked for.

    The format holds no code, and its reader checks that the tensors lie within the file, side by
    side, and that shape and kind agree with the bytes. Nothing is allocated before that.

    Args:
        path: of the file.

    Raises:
        ModelError: the file is missing, truncated, or no safetensors file.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from safetensors.numpy import save_file
        >>> save_file({"w": np.ones((2, 3), np.float32)}, "w.safetensors")
        >>> file = TensorFile(Path("w.safetensors"))
        >>> file.shapes
        {'w': (2, 3)}
        >>> file.read("w", (2, 3)).sum()
        np.float32(6.0)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        regular_file(path)
        try:
            open_file: Any = safe_open
            self._file = open_file(path, framework="numpy")
            self.metadata: dict[str, str] = dict(self._file.metadata() or {})
            names: list[str] = list(self._file.keys())
            self.shapes: dict[str, tuple[int, ...]] = {
                name: tuple(self._file.get_slice(name).get_shape()) for name in names
            }
        except (SafetensorError, OSError, ValueError, OverflowError, MemoryError) as error:
            raise ModelError(
                f"{path} is no whole safetensors file ({error}); copy it again from its source"
            ) from error

    def read(self, name: str, shape: tuple[int, ...] | None = None) -> Any:
        """One tensor as a NumPy array of its own, in the kind it is stored in.

        Args:
            name: of the tensor.
            shape: what it must have; None takes any.

        Raises:
            ModelError: there is no such tensor, or it has another shape or an unknown kind.
        """
        if name not in self.shapes:
            raise ModelError(f"{self.path} holds no tensor {name!r}")
        if shape is not None and self.shapes[name] != shape:
            raise ModelError(
                f"{self.path}: tensor {name!r} has shape {self.shapes[name]}; wanted {shape}, "
                "as config.json has it"
            )
        try:
            return self._file.get_tensor(name)
        except (SafetensorError, TypeError, KeyError, AttributeError, OSError, ValueError) as error:
            raise ModelError(
                f"{self.path}: tensor {name!r} cannot be read as an array ({error})"
            ) from error

    def read_float32(self, name: str, shape: tuple[int, ...] | None = None) -> Any:
        """One tensor of float32, float16, bfloat16 or float64, as float32."""
        found = self.read(name, shape)
        if found.dtype not in (np.float32, np.float16, np.float64, ml_dtypes.bfloat16):
            raise ModelError(
                f"{self.path}: tensor {name!r} is of kind {found.dtype}; "
                "wanted float32, float16, bfloat16 or float64"
            )
        return found.astype(np.float32, copy=False)

    def first(self, names: Iterable[str]) -> str | None:
        """The first of these names that the file holds, or None."""
        return next((name for name in names if name in self.shapes), None)
