"""What the command does: measure the cells that are missing, show them, draw and write."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, TextIO

import torch

import clearhead as ch

from .cells import CELLS, Cell, chosen
from .limit import best_rates, measured
from .measuring import Effort, compile_only, measure
from .peers import PEERS, TORCH, Peer, chosen_peers
from .printing import as_json, closing, header, line
from .records import Records, machine, versions

__all__ = ["Table"]


class Table:
    """The cells and peers that the options ask for, and the records of them."""

    def __init__(self, options: argparse.Namespace, out: TextIO) -> None:
        self.options, self.out = options, out
        self.cells = chosen(options.cells)
        self.peers = chosen_peers(options.peers)
        self.records = Records(options.out)

    def say(self, text: str) -> None:
        """A line, at once."""
        print(text, file=self.out, flush=True)

    def names(self) -> int:
        """What ``--cells`` and ``--peers`` may name."""
        for cell in self.cells:
            self.say(f"{cell.name:28} {cell.title}")
        self.say(f"peers: {', '.join(peer.name for peer in PEERS)}")
        return 0

    def compile(self) -> int:
        """Let the peers that compile do so, with the threads that the table will use."""
        torch.set_num_threads(self.options.threads)
        for kind in self.options.kind:
            for cell in self.cells:
                compile_only(cell, kind, self.peers, self.say)
        return 0

    def run(self) -> int:
        """Measure and print; 130 after Ctrl-C, 1 where a result of ours was wrong."""
        options = self.options
        torch.set_num_threads(options.threads)
        ch.set_threads(options.threads)
        known, absent = versions([TORCH, *self.peers])
        self.records.begin(machine(options.threads))
        present = [peer for peer in self.peers if peer.name in known]
        missing = [(k, c) for k in options.kind for c in self.cells]
        missing = [(k, c) for k, c in missing if not self.records.has(c.name, k)]
        if not missing:
            self._show_kept(None)
            self.say(closing(self.records))
            return 0
        self.records.add({"versions": known, "absent": absent})
        try:
            self._measure(present)
            status = 0
        except KeyboardInterrupt:
            kept = f"; {options.out} keeps what is done" if options.out else ""
            self.say(f"\nStopped{kept}.")
            status = 130
        self.say(closing(self.records))
        wrong = any("median" not in record["peers"]["ours"] for record in self.records.cells)
        return status or int(wrong)

    def _measure(self, peers: list[Peer]) -> None:
        """The probe, the cells, and the probe again: the best of both is the limit."""
        options = self.options
        effort = Effort.of(options.threads, options.quick, options.seconds, options.rounds)
        self._probe()
        for kind in options.kind:
            self.say(f"\n{header(kind)}")
            for cell in self.cells:
                if self.records.has(cell.name, kind):
                    self._show_kept((kind, cell))
                    continue
                self.records.add(measure(cell, kind, peers, effort))
                self._show(self.records.cells[-1])
        self._probe()

    def _probe(self) -> None:
        """Measure the machine's rates."""
        options = self.options
        self.records.add({"rates": measured(options.threads, CELLS, options.kind)})

    def _show(self, record: dict[str, Any]) -> None:
        self.say(line(record, best_rates(self.records.rates)))

    def _show_kept(self, which: tuple[str, Cell] | None) -> None:
        """Of all cells, or of one, what the file held before."""
        if which is None:
            for kind in self.options.kind:
                self.say(f"\n{header(kind)}")
                for record in self.records.of(kind):
                    self._show(record)
            return
        for record in self.records.of(which[0]):
            if record["cell"] == which[1].name:
                self._show(record)

    def as_json(self) -> dict[str, Any]:
        """All records with what follows from them."""
        return as_json(self.records)

    def draw(self, path: Path) -> None:
        """The picture."""
        from .picture import draw

        draw(self.records, path)
        self.say(f"drew {path}")

    def write_docs(self) -> None:
        """Tables and picture of README.md and docs/speed.md, from the file of records."""
        from .documents import write

        if not self.records.cells:
            raise SystemExit("--write-docs: found no cells; name the file of a run by --out")
        for path in write(self.records):
            self.say(f"wrote {path}")
