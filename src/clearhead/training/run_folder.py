"""The folder of a run: where it lies, whose it is, and what is kept in it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from clearhead.errors import ArgumentError, TrainingError
from clearhead.training import checkpoint
from clearhead.training.recipe import Recipe

__all__ = ["claim", "default_folder", "keep", "make", "sole_user"]

_FREE = ("steps", "decay", "dev", "average", "patience")
"""What may be changed when a run goes on: no weight that is there would have been another."""


def default_folder() -> Path:
    """Where runs live unless told otherwise: ``$XDG_CACHE_HOME/clearhead/run``."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "clearhead" / "run"


@contextlib.contextmanager
def sole_user(folder: Path) -> Iterator[None]:
    """Holds a run folder for this process: two trainings in one would spoil each other's files.

    Raises:
        TrainingError: another process trains there, or the folder cannot be written.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    make(folder)
    try:
        with (folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except BlockingIOError:
        raise TrainingError(
            f"run folder {folder} is in use by another process; wait for its end, or give another "
            "folder with --run"
        ) from None


def make(folder: Path) -> None:
    """Makes the folder where it is missing.

    Raises:
        TrainingError: it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainingError(
            f"run folder {folder} cannot be written ({error}); give another one with --run"
        ) from error


def keep(path: Path, write: Callable[[Path], None]) -> None:
    """Writes a file of the run beside, and renames it."""
    beside = path.with_suffix(".part")
    try:
        write(beside)
        beside.replace(path)
    except OSError as error:
        raise TrainingError(
            f"{path} cannot be written ({error}); free some space, or give another folder with "
            "--run"
        ) from error


def claim(recipe: Recipe, folder: Path) -> None:
    """Keeps the recipe beside the checkpoints.

    Raises:
        ArgumentError: the folder holds a run with another recipe.
    """
    path = folder / "recipe.json"
    if path.exists():
        before = Recipe.read(path)
        free = {name: getattr(recipe, name) for name in _FREE}
        same = dataclasses.replace(before, **free)
        if same != recipe and checkpoint.newest(folder):
            differing = [
                field.name
                for field in dataclasses.fields(Recipe)
                if getattr(same, field.name) != getattr(recipe, field.name)
            ]
            raise ArgumentError(
                f"run folder {folder} holds a run with another recipe ({', '.join(differing)} "
                "differ); give another folder with --run, or the recipe it was started with"
            )
    keep(path, recipe.write)
