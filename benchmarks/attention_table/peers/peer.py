"""What a peer is: a name, the libraries it needs, and the ways in which it can compute a cell."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..cells import Cell
from ..inputs import Inputs

__all__ = ["Absent", "Peer", "Way", "as_float32", "head_last", "reads"]

Output = npt.NDArray[np.float32]


class Absent(Exception):
    """A peer's library is not installed; the text says how to get it."""


@dataclass(frozen=True)
class Way:
    """One way to compute a cell: ``call()`` is timed, ``read(what it returns)`` is not.

    ``read`` gives (batch, heads, queries, width) in float32, to be checked.
    """

    call: Callable[[], Any]
    read: Callable[[Any], Output]


@dataclass(frozen=True)
class Peer:
    """A library beside ours, or ours.

    name       the key in records and of ``--peers``
    title      as the table has it
    packages   what must be installed, as pip calls it; the first gives the version
    ways       inputs and threads -> ways by name; of several the fastest counts; none: it cannot
    kinds      the kinds it computes
    dense      it keeps N x M scores of every head in memory, this many times
    compiles   its first call compiles for seconds, so that call is never a time
    """

    name: str
    title: str
    packages: tuple[str, ...]
    ways: Callable[[Inputs, int], dict[str, Way]]
    kinds: tuple[str, ...] = ("float32", "bfloat16", "float16")
    dense: int = 0
    compiles: bool = False

    def version(self) -> str:
        """The version of its library; ``Absent`` where one of its packages is missing."""
        try:
            found = [version(package) for package in self.packages]
        except PackageNotFoundError as missing:
            needed = " ".join(self.packages)
            raise Absent(f"{missing.name} is not installed: pip install {needed}") from None
        return found[0]

    def memory(self, cell: Cell) -> int:
        """Bytes of its scores: float32, over batch and heads."""
        return self.dense * 4 * cell.batch * cell.heads * cell.queries * cell.keys


def as_float32(x: Any) -> Output:
    """An array or tensor of any of the kinds as float32 in NumPy."""
    if isinstance(x, torch.Tensor):
        return x.detach().float().numpy()
    return np.asarray(x).astype(np.float32)


def head_last(x: Any) -> Output:
    """(batch, queries, heads, width) -> (batch, heads, queries, width)."""
    return as_float32(x).swapaxes(1, 2)


def reads(cell: Cell) -> Callable[[Any], Output]:
    """For peers that take the heads of a group as queries of its key head: back to the cell's."""
    return lambda x: as_float32(x).reshape(cell.shape)


def load(module: str) -> Any:
    """The module, imported when it is first needed."""
    return importlib.import_module(module)
