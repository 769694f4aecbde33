"""Checkpoints: everything a run needs to go on, written beside and then renamed."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

import torch

from clearhead.errors import TrainingError

__all__ = ["best", "keep_best", "name_at", "newest", "read", "write"]


def name_at(step: int) -> str:
    """What the checkpoint of a step is called."""
    return f"checkpoint-{step:07d}.pt"


def write(folder: Path, state: dict[str, Any], *, keep: int = 2) -> Path:
    """Writes a checkpoint; whatever happens meanwhile, the last one stays whole.

    Args:
        folder: of the run.
        state: tensors and plain values, with the number of steps under ``step``.
        keep: how many of the newest to keep.

    Raises:
        TrainingError: the disk is full or may not be written; nothing older was touched.
    """
    path = folder / name_at(state["step"])
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


def best(folder: Path) -> Path | None:
    """The checkpoint that :func:`keep_best` kept, or None."""
    path = folder / "best.pt"
    return path if path.exists() else None


def keep_best(path: Path) -> Path:
    """Keeps a checkpoint as ``best.pt``, where newer ones do not replace it.

    Raises:
        TrainingError: the disk is full or may not be written.
    """
    kept = path.with_name("best.pt")
    beside = kept.with_suffix(".part")
    try:
        beside.unlink(missing_ok=True)
        try:
            os.link(path, beside)  # the same bytes under two names
        except OSError:  # no such links on this disk
            shutil.copyfile(path, beside)
        beside.replace(kept)
    except OSError as error:
        raise TrainingError(
            f"{kept} cannot be written ({error}); the last checkpoint is whole: free some space "
            "or mend the permission, then start the same command again"
        ) from error
    return kept


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
