"""Files of a model's folder, opened only if they are files: a pipe would be waited for for ever."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from clearhead.errors import KindError, ModelError

__all__ = ["folder_path", "read_json", "regular_file"]


def folder_path(folder: Any) -> Path:
    """``folder`` as a path.

    Raises:
        KindError: it is none.

    Example:
        >>> folder_path("models/mine").name
        'mine'
    """
    if isinstance(folder, str | os.PathLike):
        return Path(folder)
    raise KindError(
        f"folder: found {type(folder).__name__}; wanted the path of a model's folder, as text or "
        "a pathlib.Path"
    )


def regular_file(path: Path) -> Path:
    """``path``, if it is a file that can be read to its end.

    Raises:
        ModelError: there is none, or it is a folder, a pipe, a socket or a device.
    """
    try:
        if path.is_file():
            return path
        found = path.exists()
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None
    if found:
        raise ModelError(f"{path} is no regular file; wanted one that can be read to its end")
    raise ModelError(f"{path.parent} holds no {path.name}: it is no model folder")


def read_json(path: Path) -> Any:
    """What a JSON file of a model's folder holds.

    Raises:
        ModelError: the file is missing, no regular file, or no JSON.
    """
    regular_file(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read as JSON: {error}") from error
