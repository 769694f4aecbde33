"""The table as text: a line as soon as a cell is done, and what it comes to at the end."""

from __future__ import annotations

from typing import Any

from .limit import best_rates, peak
from .peers import PEERS
from .ratios import Record, cell_of, means, ratio, share, value_of, verdicts
from .records import Records

__all__ = ["as_json", "closing", "header", "line"]

MARKS = {"miss": "!", "floor": " ", "beyond": "+", "unknown": " "}
WIDE = 42
NAMES = tuple(peer.name for peer in PEERS)
LEGEND = """
  ours      milliseconds, the median       rate   useful operations per second; decoding: bytes
  limit     the physical limit / ours: 100 % is all that the machine can do (docs/speed.md)
  looking   ours with the top 8 keys, entropy and log-sum-exp / ours
  torch …   how many times as long as ours; viewed: torch with a group's heads as queries
  +  beyond what was aimed at     !  below the floor     –  not there: why stands in the JSON"""


def header(kind: str) -> str:
    """The heads of the columns."""
    fixed = (
        f"{kind:{WIDE}}{'ours':>9}{'rate':>11}{'limit':>8}{'torch':>8}{'viewed':>8}{'looking':>9}"
    )
    return fixed + "".join(f"{name:>10}" for name in NAMES)


def line(record: Record, rates: dict[str, Any]) -> str:
    """One cell."""
    cell = cell_of(record)
    marks = {goal.of: MARKS[found] for goal, _, found in verdicts(record, rates)}
    mine = record["peers"].get("ours", {}).get("median")
    if mine is None:
        why = record["peers"].get("ours", {})
        return f"{cell.title:{WIDE}}  ours: {why.get('wrong') or why.get('failed')}"
    useful = cell.read_bytes(record["kind"]) if cell.decoding else cell.operations
    unit = "GB/s" if cell.decoding else "GF/s"
    part = share(record, rates)
    limit = "–" if part is None else f"{part:.0%}"
    shown = [
        f"{cell.title:{WIDE}}{mine * 1e3:9.3f}{useful / mine / 1e9:6.0f} {unit}"
        f"{limit:>7}{marks.get('share', ' ')}"
    ]
    for name, over, under, width in (
        ("torch", "torch", "ours", 7),
        ("viewed", "viewed", "ours", 7),
        ("looking", "looking", "ours", 8),
        *((name, name, "ours", 9) for name in NAMES),
    ):
        found = ratio(record, over, under)
        text = "–" if found is None else f"{found:.2f}"
        mark = marks.get(name, " ")
        if name in NAMES and found is not None and found < 1:
            mark = "!"
        shown.append(f"{text:>{width}}{mark}")
    return "".join(shown).rstrip()


def closing(records: Records) -> str:
    """Means, floors and misses of each kind, the rates of the machine, and who is absent."""
    rates = best_rates(records.rates)
    parts = [LEGEND]
    for kind in records.kinds:
        parts.append(_kind(records, kind, rates))
    parts.append(_rates(records, rates))
    parts += [f"  {name}: {why}" for name, why in records.absent.items()]
    return "\n".join(parts)


def _kind(records: Records, kind: str, rates: dict[str, Any]) -> str:
    """The geometric means of one kind, and what missed its floor."""
    cells = records.of(kind)
    shown = "   ".join(f"{name} {mean:.2f} ({n})" for name, (mean, n) in means(cells).items())
    told, reached, beyond, all_goals = [], 0, 0, 0
    for record in cells:
        for goal, value, verdict in verdicts(record, rates):
            if value is None:
                continue
            all_goals += 1
            reached += verdict != "miss"
            beyond += verdict == "beyond"
            if verdict == "miss":
                told.append(
                    f"    {cell_of(record).title}: {goal.of} {value:.2f}, floor {goal.floor:.2f}"
                )
        for name, entry in record["peers"].items():
            why = entry.get("wrong") or entry.get("failed")
            if why:
                told.append(f"    {cell_of(record).title}: {name} not timed: {why}")
    top = f"\n{kind}: geometric means (of so many cells)  {shown}"
    middle = f"  {reached} of {all_goals} floors reached, {beyond} beyond"
    return "\n".join([top, middle, *told])


def _rates(records: Records, rates: dict[str, Any]) -> str:
    machine = records.machine or {}
    what = f"\n{machine.get('processor')}, {machine.get('threads')} threads, {machine.get('isa')}"
    if not rates:
        return (
            f"{what}; no limit: {records.rates[-1]['missing'] if records.rates else 'unmeasured'}"
        )
    peaks = ", ".join(f"{kind} {(peak(kind, rates) or 0) / 1e9:.0f} GF/s" for kind in records.kinds)
    return (
        f"{what}: products at most {peaks}; exponentials"
        f" {rates.get('exp_degree_5', 0) / 1e9:.1f} G/s"
    )


def as_json(records: Records) -> dict[str, Any]:
    """Everything: machine, rates, versions, cells with ratios of medians and of minima, means."""
    rates = best_rates(records.rates)
    cells = []
    for record in records.cells:
        ratios = {
            name: {"median": ratio(record, name), "min": ratio(record, name, what="min")}
            for name in record["peers"]
            if name != "ours" and ratio(record, name) is not None
        }
        goals = [
            {
                "of": goal.of,
                "floor": goal.floor,
                "value": value_of(goal, record, rates),
                "is": found,
            }
            for goal, _, found in verdicts(record, rates)
        ]
        extra = {"ratios": ratios, "share": share(record, rates), "goals": goals}
        cells.append({**record, "shape": cell_of(record).shape, **extra})
    return {
        "machine": records.machine,
        "rates": rates,
        "versions": records.versions,
        "absent": records.absent,
        "cells": cells,
        "means": {kind: means(records.of(kind)) for kind in records.kinds},
    }
