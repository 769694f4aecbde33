"""What the kernels run on: the instruction set, the threads, and what this build holds."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.core.openmp import native
from clearhead.errors import ArgumentError, KindError

__all__ = ["Machine", "machine", "set_threads"]


@dataclass(frozen=True)
class Machine:
    """What ``machine()`` found.

    isa      the instruction set of the kernels that run: "amx", "avx512bf16", "avx512", ...
    threads  how many threads a call that is worth it uses
    isas     the instruction sets this build holds, slowest first; CLEARHEAD_ISA forces one
    """

    isa: str
    threads: int
    isas: tuple[str, ...]


def machine() -> Machine:
    """The instruction set and the threads that ``attention`` uses here.

    Raises ``ArgumentError`` where the environment's CLEARHEAD_ISA names what cannot run.

    >>> machine().isa in machine().isas
    True
    """
    try:
        isa = native.isa()
    except RuntimeError as error:
        raise ArgumentError(str(error)) from error
    return Machine(isa, native.threads(), tuple(native.isas_built().split(", ")))


def set_threads(n: int | None) -> None:
    """Use ``n`` threads from the next call on, in the whole process; None: as OpenMP says.

    Results do not depend on it, bit for bit. A call below 1.5 million operations, and a process
    that was forked, run on one thread whatever is set.

    >>> set_threads(2)
    >>> machine().threads
    2
    >>> set_threads(None)
    """
    native.set_threads(0 if n is None else _count(n))


def _count(n: Any) -> int:
    if isinstance(n, bool | np.bool_):
        raise KindError(f"n: found {n}; wanted a number of threads, 1 or more")
    try:
        count = operator.index(n)
    except TypeError:
        raise KindError(f"n: found {n!r}; wanted a number of threads, 1 or more") from None
    if not 1 <= count <= 1024:
        raise ArgumentError(f"n: found {count}; wanted a number of threads from 1 to 1024, or None")
    return count
