"""The folder of a translation model: sizes, vocabulary, and weights in a safetensors file.

A matrix is stored as int8 rows: NAME (rows, columns) int8 beside NAME.scale (rows,) float32, and
row r is NAME[r] · NAME.scale[r]. Plain floats are read too. Reading executes nothing, and a file
that is cut off, foreign or hostile gives a ``ModelError`` that names it, before room is made for
what it claims to hold.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from clearhead.errors import ModelError
from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import weight_shapes
from clearhead.model.safetensors_file import TensorFile
from clearhead.model.tree import flatten, nest
from clearhead.model.vocabulary import Vocabulary

__all__ = [
    "dequantised",
    "load_model",
    "quantised",
    "save_model",
    "write_arrays",
]

CONFIG, VOCABULARY, WEIGHTS = "config.json", "vocabulary.json", "model.safetensors"


def write_arrays(path: Path, arrays: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
    """Writes a safetensors file, beside and then renamed: a reader sees the old or the new one.

    Args:
        path: of the file; its folder exists.
        arrays: NumPy arrays by name, of any kind but bfloat16.
        metadata: text by name.

    Raises:
        ModelError: the file cannot be written; what was there before is whole.
    """
    held = {n: np.ascontiguousarray(x).reshape(x.shape) for n, x in arrays.items()}
    data = save(held, dict(metadata))
    _write_beside(path, lambda beside: beside.write_bytes(data))


def quantised(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Matrices as int8 rows with a scale each, rounded to the nearest; vectors as they are.

    Example:
        >>> small = quantised({"w": np.array([[1.0, -2.0]], np.float32)})
        >>> small["w"], small["w.scale"].round(4)
        (array([[  64, -127]], dtype=int8), array([0.0157], dtype=float32))
    """
    small: dict[str, Any] = {}
    for name, array in arrays.items():
        array = np.asarray(array, np.float32)
        if array.ndim != 2:
            small[name] = array
            continue
        largest = np.abs(array).max(axis=1, initial=0.0)
        scale = np.where(largest > 0, largest / np.float32(127), np.float32(1)).astype(np.float32)
        small[name] = np.rint(array / scale[:, None]).clip(-127, 127).astype(np.int8)
        small[name + ".scale"] = scale
    return small


def dequantised(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Undoes :func:`quantised`: float32 arrays by name, the scales worked in.

    Raises:
        ModelError: int8 rows without their scales, or scales that do not fit or are no numbers.
    """
    full: dict[str, Any] = {}
    for name, array in arrays.items():
        if name.endswith(".scale") and name.removesuffix(".scale") in arrays:
            continue
        if array.dtype == np.int8:
            scale = arrays.get(name + ".scale")
            if scale is None or scale.shape != array.shape[:1] or scale.dtype != np.float32:
                raise ModelError(f"{name} has int8 rows without a float32 {name}.scale for each")
            out = np.empty(array.shape, np.float32)
            array = np.multiply(array, scale[:, None] if array.ndim == 2 else scale, out=out)
            finite = bool(np.isfinite(scale).all())
        elif array.dtype.kind in "fV":  # V: ml_dtypes' own kinds
            array = array.astype(np.float32, copy=False)
            finite = bool(np.isfinite(array).all())
        else:
            raise ModelError(f"{name} is of kind {array.dtype}; wanted float or int8 rows")
        if not finite:
            raise ModelError(f"{name} holds NaN or infinity")
        full[name] = array
    return full


def save_model(
    folder: Path,
    config: TranslationConfig,
    vocabulary: Vocabulary,
    weights: Mapping[str, Any],
    *,
    card: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes a model folder: config.json, vocabulary.json, model.safetensors, and README.md.

    Args:
        folder: it is made where it is missing.
        config, vocabulary: of the model.
        weights: the tree of NumPy arrays; matrices are stored as int8 rows.
        card: the model card, Markdown; None leaves the one that is there.
        metadata: text to keep with the weights.

    Raises:
        ModelError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"folder {folder} cannot be made: {error}") from None
    small = quantised(flatten(weights))
    write_arrays(folder / WEIGHTS, small, {"format": "clearhead", **(metadata or {})})
    _write_beside(folder / VOCABULARY, vocabulary.save)
    sizes = json.dumps(config.to_dict(), indent=1) + "\n"
    _write_beside(folder / CONFIG, lambda beside: beside.write_text(sizes, encoding="utf-8"))
    if card is not None:
        _write_beside(folder / "README.md", lambda p: p.write_text(card, encoding="utf-8"))


def load_model(folder: Path) -> tuple[TranslationConfig, Vocabulary, Any]:
    """Reads a model folder.

    Returns:
        the config, the vocabulary, and the tree of float32 NumPy arrays.

    Raises:
        ModelError: the folder holds no whole model of this kind; the message names the file, and
            every weight that is missing, superfluous or of another shape (the first few).
    """
    if not folder.is_dir():
        raise ModelError(f"{folder} is no folder; wanted one with {CONFIG} and {WEIGHTS}")
    config = TranslationConfig.read(folder / CONFIG)
    vocabulary = Vocabulary.read(folder / VOCABULARY)
    if vocabulary.size != config.vocabulary:
        raise ModelError(
            f"{folder / VOCABULARY} has {vocabulary.size} pieces; {CONFIG} says {config.vocabulary}"
        )
    for tag in config.languages:
        vocabulary.language(tag)
    file = TensorFile(folder / WEIGHTS)
    _check(file, weight_shapes(config))
    try:
        return config, vocabulary, nest(dequantised({n: file.read(n) for n in file.shapes}))
    except ModelError as error:
        raise ModelError(f"{file.path}: {error}") from None


def _check(file: TensorFile, wanted: Mapping[str, tuple[int, ...]]) -> None:
    """That the file holds these weights, and beside matrices their scales: by shapes alone."""
    found = file.shapes
    known = {**wanted, **{f"{n}.scale": s[:1] for n, s in wanted.items() if len(s) == 2}}
    faults = [f"{name} is missing" for name in wanted if name not in found]
    faults += [f"{name} is not of this model" for name in sorted(found) if name not in known]
    faults += [
        f"{name} has shape {found[name]}, wanted {shape}"
        for name, shape in known.items()
        if name in found and found[name] != shape
    ]
    if faults:
        more = f", and {len(faults) - 3} more" if len(faults) > 3 else ""
        raise ModelError(f"{file.path} does not fit {CONFIG}: {', '.join(faults[:3])}{more}")


def _write_beside(path: Path, write: Callable[[Path], object]) -> None:
    beside = path.with_name(path.name + ".part")
    try:
        write(beside)
        beside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise ModelError(f"{path} cannot be written: {error}") from None
