"""The file of records: one JSON object a line, so that what is done is kept whatever happens."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path

import clearhead
from clearhead import _native

from .cells import CELLS
from .peers import PEERS, TORCH, Absent, Peer
from .ratios import Record

__all__ = ["Records", "machine", "versions"]


def versions(peers: list[Peer]) -> tuple[dict[str, str], dict[str, str]]:
    """Of each peer the version of its library; and of those that are absent, how to get them."""
    found, absent = {}, {}
    for peer in peers:
        try:
            found[peer.name] = f"{peer.packages[0]} {peer.version()}"
        except Absent as missing:
            absent[peer.name] = str(missing)
    return found, absent


def machine(threads: int) -> Record:
    """What the times depend on; records of another machine or build are not mixed with these."""
    native = Path(_native.__file__).read_bytes()
    return {
        "processor": _processor(),
        "threads": threads,
        "isa": clearhead.machine().isa,
        "build": hashlib.sha256(native).hexdigest()[:12],
        "clearhead": clearhead.__version__,
        "torch": TORCH.version(),
    }


def _processor() -> str:
    """Its name, and how many of them this process may use."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(x.split(":", 1)[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}, {count} processors"


class Records:
    """What was measured so far, in memory and, with a path, line by line in a file.

    Lines are {"machine": …}, first; {"rates": …}; {"versions": …}; and one for each cell.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.machine: Record | None = None
        self.rates: list[Record] = []
        self.versions: dict[str, str] = {}
        self.absent: dict[str, str] = {}
        self.cells: list[Record] = []
        if path is not None and path.exists():
            whole, _, cut_short = path.read_text().rpartition("\n")
            if cut_short:
                path.write_text(f"{whole}\n" if whole else "")
            for line in whole.splitlines():
                self._take(json.loads(line))

    def begin(self, here: Record) -> None:
        """Go on in the file, if it is of this machine and build; end the program if not."""
        if self.machine is None:
            self.add({"machine": here})
        changed = [k for k, v in here.items() if self.machine and self.machine.get(k) != v]
        if changed:
            was = ", ".join(f"{k} {(self.machine or {}).get(k)}" for k in changed)
            now = ", ".join(f"{k} {here[k]}" for k in changed)
            raise SystemExit(f"{self.path}: was measured with {was}, here is {now}; name another")

    def add(self, line: Record) -> None:
        """Keep a line, in the file at once."""
        self._take(line)
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps(line) + "\n")

    def _take(self, line: Record) -> None:
        if "machine" in line:
            self.machine = line["machine"]
        elif "rates" in line:
            self.rates.append(line["rates"])
        elif "versions" in line:
            self.versions.update(line["versions"])
            self.absent = {k: v for k, v in line["absent"].items() if k not in self.versions}
        else:
            self.cells.append(line)

    def has(self, cell: str, kind: str) -> bool:
        """Whether that cell was measured."""
        return any((r["cell"], r["kind"]) == (cell, kind) for r in self.cells)

    def of(self, kind: str) -> list[Record]:
        """The cells of one kind, in the order of the table."""
        order = [cell.name for cell in CELLS]
        found = [r for r in self.cells if r["kind"] == kind and r["cell"] in order]
        return sorted(found, key=lambda record: order.index(record["cell"]))

    @property
    def kinds(self) -> list[str]:
        """The kinds of which there are cells, in the order of their first."""
        return list(dict.fromkeys(record["kind"] for record in self.cells))

    def titles(self) -> dict[str, str]:
        """The peers of which there is a time, or that failed, with their titles."""
        there = {name for record in self.cells for name in record["peers"]}
        return {peer.name: peer.title for peer in PEERS if peer.name in there}
