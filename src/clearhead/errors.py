"""Every exception the package raises, in one tree.

::

    ClearheadError
    ├── ArgumentError        also a ValueError: a value that cannot be meant
    │   ├── ShapeError       axes that do not fit together
    │   ├── MaskError        a mask that cannot be read, or two that contradict each other
    │   └── TextError        a sentence that cannot be read (empty, too long, not Unicode)
    ├── KindError            also a TypeError: the wrong kind of array, or kinds that differ
    ├── MemoryLimitError     also a MemoryError: refused before anything was touched
    ├── ModelError           also a ValueError: a folder or file that holds no usable model
    ├── CacheError           also a ValueError: a cache without room for what is appended
    ├── TrainingError        also a RuntimeError: training cannot start or go on
    └── MissingExtra         also an ImportError: an optional library is not installed

A message names the argument, what was found, what is wanted, and the next step.
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "CacheError",
    "ClearheadError",
    "KindError",
    "MaskError",
    "MemoryLimitError",
    "MissingExtra",
    "ModelError",
    "ShapeError",
    "TextError",
    "TrainingError",
]


class ClearheadError(Exception):
    """The root: ``except clearhead.ClearheadError`` catches everything raised here."""


class ArgumentError(ClearheadError, ValueError):
    """An argument has a value that cannot be meant."""


class ShapeError(ArgumentError):
    """The axes of two arrays do not fit together."""


class MaskError(ArgumentError):
    """A mask cannot be read as one, or two masks contradict each other."""


class TextError(ArgumentError):
    """A sentence cannot be read: it is empty, too long, or not valid Unicode."""


class KindError(ClearheadError, TypeError):
    """An array is of the wrong kind, or the kinds of several arrays differ."""


class MemoryLimitError(ClearheadError, MemoryError):
    """The request cannot fit in memory; nothing has been touched."""


class ModelError(ClearheadError, ValueError):
    """A folder or file does not hold a model that can be used."""


class CacheError(ClearheadError, ValueError):
    """A cache has no room for what should be appended; nothing has been written."""


class TrainingError(ClearheadError, RuntimeError):
    """Training cannot start, or cannot go on; the last checkpoint is whole."""


class MissingExtra(ClearheadError, ImportError):
    """An optional library is needed and not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {library}, which is not installed; "
            f"install it with: pip install 'clearhead[{extra}]'"
        )
