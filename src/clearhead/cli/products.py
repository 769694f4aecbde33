"""How NumPy multiplies in a command, and how many batches are translated at the same time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["wide_products", "workers"]

# What OpenBLAS's kernels for AVX-512 are compiled for.
_WANTED = {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}


def wide_products(processor: Path = Path("/proc/cpuinfo")) -> None:
    """Lets NumPy's OpenBLAS use AVX-512 on AMD's processors that have it (Zen 4 and later).

    The builds in NumPy's wheels hold kernels for AVX-512, but choose those for AVX2 there, which
    take nearly twice as long. On Intel's they choose by themselves. Who has OPENBLAS_CORETYPE set
    is obeyed; where NumPy is loaded already, or has another BLAS library, nothing changes.

    Args:
        processor: where Linux describes it; elsewhere nothing is done.
    """
    if "OPENBLAS_CORETYPE" in os.environ or "numpy" in sys.modules:
        return
    try:
        with processor.open(encoding="ascii", errors="replace") as file:
            told = dict(_field(line) for line, _ in zip(file, range(40), strict=False))
    except OSError:
        return
    if told.get("vendor_id") == "AuthenticAMD" and set(told.get("flags", "").split()) >= _WANTED:
        os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"


def workers() -> int:
    """Batches to translate at the same time: one a thread, at most 8, where NumPy's products run
    on one thread each; else one.
    """
    from clearhead.core.machine import machine

    return min(8, machine().threads) if os.environ.get("OPENBLAS_NUM_THREADS") == "1" else 1


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()
