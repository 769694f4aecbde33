"""The physical limit of a cell, from rates that probe.cpp measures on this machine.

    limit = products / peak of the kind + exponentials / their rate
    decoding: bytes of the keys and values / bytes read per second, from memory of that size

The sum, not the larger of both: one unit of the processor does the multiply-adds of both.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .cells import KINDS, Cell

__all__ = ["best_rates", "limit", "measured", "peak"]

PROBE = Path(__file__).with_name("probe.cpp")
OPTIONS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=fast", "-pthread")
UNITS = {
    "float32": ("fma_float32",),
    "bfloat16": ("fma_float32", "dot_bfloat16", "tiles_bfloat16"),
    "float16": ("fma_float32", "fma_float16"),
}
"""What can multiply numbers of a kind and add the products up."""

DEGREE = {"float32": "exp_degree_5", "bfloat16": "exp_degree_4", "float16": "exp_degree_4"}
"""The shortest polynomial whose error is below the rounding of the kind's weights."""


class Probe:
    """probe.cpp, compiled for this machine; ``with Probe() as probe: probe.rates(2, sizes)``."""

    def __enter__(self) -> Probe:
        compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
        if compiler is None:
            raise OSError("found no C++ compiler for the probe: install g++, or name one in CXX")
        self.folder = tempfile.TemporaryDirectory()
        self.program = Path(self.folder.name) / "probe"
        command = [*compiler.split(), *OPTIONS, str(PROBE), "-o", str(self.program)]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            self.folder.cleanup()
            raise OSError(f"{compiler} cannot compile {PROBE}: {made.stderr.strip()[:500]}")
        return self

    def __exit__(self, *problem: object) -> None:
        self.folder.cleanup()

    def rates(self, threads: int, sizes: Iterable[int]) -> dict[str, Any]:
        """Operations, exponentials and bytes per second, as the program names them."""
        command = [str(self.program), str(threads), *map(str, sizes)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(run.stdout)
        return found


def measured(threads: int, cells: Iterable[Cell], kinds: Iterable[str]) -> dict[str, Any]:
    """The rates here, or {"missing": why} where the probe cannot be had."""
    kinds = list(kinds)
    sizes = sorted({cell.read_bytes(kind) for cell in cells if cell.decoding for kind in kinds})
    try:
        with Probe() as probe:
            return probe.rates(threads, sizes)
    except (OSError, subprocess.CalledProcessError) as problem:
        return {"missing": str(problem)}


def best_rates(found: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Of several measurements the best of each rate: a limit is what the machine can do at most.

    >>> best_rates([{"fma_float32": 2.0, "read": {"8": 1.0}}, {"fma_float32": 3.0}])
    {'fma_float32': 3.0, 'read': {'8': 1.0}}
    """
    best: dict[str, Any] = {}
    for rates in found:
        for name, value in rates.items():
            if isinstance(value, dict):
                best[name] = best_rates([best.get(name, {}), value])
            elif not isinstance(value, str):
                best[name] = max(value, best.get(name, 0))
    return best


def peak(kind: str, rates: dict[str, Any]) -> float | None:
    """Operations per second of the fastest unit for the kind; None where nothing was measured."""
    return max((rates[unit] for unit in UNITS[kind] if unit in rates), default=None)


def limit(cell: Cell, kind: str, rates: dict[str, Any]) -> float | None:
    """Seconds that the cell takes at the least; None where the rates were not measured."""
    assert kind in KINDS
    if cell.decoding:
        size = cell.read_bytes(kind)
        speed = rates.get("read", {}).get(str(size))
        return size / speed if speed else None
    products, exponentials = peak(kind, rates), rates.get(DEGREE[kind])
    if not products or not exponentials:
        return None
    return cell.operations / products + cell.pairs / exponentials
