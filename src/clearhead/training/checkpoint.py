"""Checkpoints: everything a run needs to go on, written beside and then renamed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import torch

from clearhead.errors import TrainingError

__all__ = ["newest", "read", "write"]


def write(folder: Path, state: dict[str, Any], *, keep: int = 2) -> Path:
    """Writes a checkpoint; whatever happens meanwhile, the last one stays whole.

    Args:
        folder: of the run.
        state: tensors and plain values, with the number of steps under ``step``.
        keep: how many of the newest to keep.

    Raises:
        TrainingError: the disk is full or may not be written; nothing older was touched.
    """
    path = folder / f"checkpoint-{state['step']:07d}.pt"
    beside = path.with_suffix(".part")
    try:
        with beside.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except (OSError, RuntimeError) as error:  # torch.save reports a full disk as RuntimeError
        with contextlib.suppress(OSError):
            beside.unlink()
        raise TrainingError(
            f"checkpoint {path} cannot be written ({error}); the last one is whole: free some "
            "space or mend the permission, then start the same command again"
        ) from error
    spent = sorted(folder.glob("checkpoint-*.pt"))[:-keep]
    for old in [*spent, *folder.glob("checkpoint-*.part")]:  # .part: of a process that was killed
        with contextlib.suppress(OSError):
            old.unlink()
    return path


def newest(folder: Path) -> Path | None:
    """The newest checkpoint of a run, or None."""
    found = sorted(folder.glob("checkpoint-*.pt"))
    return found[-1] if found else None


def read(path: Path) -> dict[str, Any]:
    """Reads a checkpoint.

    Raises:
        TrainingError: the file is damaged.
    """
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise TrainingError(
            f"checkpoint {path} cannot be read ({error}); remove it to go on from the one before"
        ) from error
    return state
