"""One cell: inputs, the first call of everybody, checked, and then the times."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .cells import Cell
from .inputs import Inputs, error_of
from .peers import LOOKING, OURS, TORCH, VIEWED, Peer, Way
from .ratios import Record
from .timing import Timed, interleaved, summary, timed_once

__all__ = ["ALLOWED", "Effort", "measure"]

ALLOWED = {"float32": 1e-4, "bfloat16": 4e-2, "float16": 5e-3}
"""The largest error of a row, of its largest number; beyond it a result is wrong, not rounded."""

SLOW = 1.0  # a call of so many seconds is warm the first time, and one sample of it is enough


@dataclass(frozen=True)
class Effort:
    """How long a cell is timed, and what is left out."""

    threads: int
    seconds: float
    rounds: int
    memory: int
    quick: bool = False

    @classmethod
    def of(cls, threads: int, quick: bool, seconds: float | None, rounds: int | None) -> Effort:
        """The usual effort, or the quick one, but for what is given."""
        usual = (0.4, 3) if quick else (3.0, 5)
        memory = int(0.5 * _free_memory())
        return cls(threads, seconds or usual[0], rounds or usual[1], memory, quick)

    def objection(self, peer: Peer, cell: Cell) -> str | None:
        """Why the peer is not asked for this cell, if so."""
        needed = peer.memory(cell)
        if needed > self.memory:
            return f"its scores need {needed / 1e9:.0f} GB"
        if self.quick and needed > 2e8:
            return f"its scores need {needed / 1e9:.1f} GB, too slow for --quick"
        if self.quick and peer.compiles:
            return "it compiles for seconds, too slow for --quick"
        return None


def measure(cell: Cell, kind: str, peers: list[Peer], effort: Effort) -> Record:
    """The record of a cell: per peer its times and error, or why there are none."""
    seed = time.time_ns() % 2**31
    inputs = Inputs(cell, kind, seed)
    found: dict[str, Record] = {}
    timed: dict[str, Timed] = {}
    for peer in (OURS, LOOKING, TORCH, VIEWED, *peers):
        if kind not in peer.kinds:
            continue
        why = effort.objection(peer, cell)
        if why:
            found[peer.name] = {"left_out": why}
            continue
        entry, one = _entered(peer, inputs, effort.threads)
        if entry is not None:
            found[peer.name] = entry
        if one is not None:
            timed[peer.name] = one
    gc.collect()
    gc.disable()
    try:
        interleaved(list(timed.values()), effort.seconds, effort.rounds, random.Random(seed))
    finally:
        gc.enable()
    for name, one in timed.items():
        found[name].update(summary(one.times))
    return {"cell": cell.name, "kind": kind, "day": time.strftime("%Y-%m-%d"), "peers": found}


def _entered(peer: Peer, inputs: Inputs, threads: int) -> tuple[Record | None, Timed | None]:
    """The peer's entry, and its fastest right way; no entry where it has no way at all."""
    problem: Record = {}
    right: dict[str, tuple[Way, float, float]] = {}
    try:
        ways = peer.ways(inputs, threads)
    except Exception as failure:
        return {"failed": _first_line(failure)}, None
    if not ways:
        return None, None
    for name, way in ways.items():
        try:
            out, seconds = timed_once(way.call)
            error = error_of(way.read(out), inputs)
            if error > ALLOWED[inputs.kind]:
                problem = {"wrong": f"{name} is off by {error:.1e} of the largest of a row"}
                continue
            if seconds < SLOW or peer.compiles:
                del out
                seconds = timed_once(way.call)[1]
            right[name] = (way, error, seconds)
        except Exception as failure:
            problem = problem or {"failed": f"{name}: {_first_line(failure)}"}
    if not right:
        return problem, None
    name = min(right, key=lambda way: right[way][2])
    way, error, seconds = right[name]
    one = Timed(way.call, seconds, leading=peer in (OURS, LOOKING, TORCH, VIEWED))
    if seconds >= SLOW:
        one.times, one.spent = [seconds], seconds
    return {"way": name, "error": error}, one


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:200]


def _free_memory() -> float:
    """Bytes that are free, as the system says; 8 GB where it does not."""
    try:
        with open("/proc/meminfo") as file:
            lines = dict(line.split(":", 1) for line in file)
        return float(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        return 8e9


def compile_only(cell: Cell, kind: str, peers: list[Peer], say: Callable[[str], Any]) -> None:
    """The first call of the peers that compile for seconds; what they made they keep on disk."""
    for peer in peers:
        if peer.compiles and kind in peer.kinds:
            entry, _ = _entered(peer, Inputs(cell, kind, 0), 1)
            why = (entry or {}).get("failed") or (entry or {}).get("wrong")
            say(f"{cell.title}, {kind}: {peer.title} {why or 'compiled'}")
