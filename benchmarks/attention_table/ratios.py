"""From records of times to the numbers of the table: ratios, shares of the limit, verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .cells import CELLS, Cell
from .goals import Goal
from .limit import limit
from .peers import PEERS

__all__ = ["cell_of", "geometric_mean", "means", "ratio", "share", "value_of", "verdicts"]

Record = dict[str, Any]
OTHERS = tuple(peer.name for peer in PEERS)


def cell_of(record: Record) -> Cell:
    """The cell that the record is about."""
    return next(cell for cell in CELLS if cell.name == record["cell"])


def ratio(record: Record, over: str, under: str = "ours", what: str = "median") -> float | None:
    """How many times as long ``over`` takes as ``under``; None where one was not timed."""
    top, bottom = (record["peers"].get(name, {}).get(what) for name in (over, under))
    return top / bottom if top and bottom else None


def share(record: Record, rates: dict[str, Any]) -> float | None:
    """The physical limit / our median: 1 is all that the machine can do."""
    least = limit(cell_of(record), record["kind"], rates)
    mine = record["peers"].get("ours", {}).get("median")
    return least / mine if least and mine else None


def value_of(goal: Goal, record: Record, rates: dict[str, Any]) -> float | None:
    """The number that the goal is about; None where it was not measured."""
    if goal.of == "share":
        return share(record, rates)
    if goal.of == "others":
        found = [r for name in OTHERS if (r := ratio(record, name)) is not None]
        return min(found, default=None)
    over, under = {
        "torch": ("torch", "ours"),
        "viewed": ("viewed", "ours"),
        "looking": ("looking", "ours"),
        "seeing": ("torch", "looking"),
    }[goal.of]
    return ratio(record, over, under)


def verdicts(record: Record, rates: dict[str, Any]) -> list[tuple[Goal, float | None, str]]:
    """Each goal of the cell with its value and "miss", "floor", "beyond" or "unknown"."""
    found = []
    for goal in cell_of(record).goals(record["kind"]):
        value = value_of(goal, record, rates)
        found.append((goal, value, "unknown" if value is None else goal.verdict(value)))
    return found


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Of those that there are.

    >>> geometric_mean([1.0, 4.0, None])
    2.0
    """
    logs = [math.log(value) for value in values if value is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None


def means(records: list[Record]) -> dict[str, tuple[float, int]]:
    """For torch and every other peer the geometric mean of its ratios, and over how many cells."""
    found = {}
    for name in ("torch", "viewed", *OTHERS):
        values = [r for record in records if (r := ratio(record, name)) is not None]
        mean = geometric_mean(values)
        if mean is not None:
            found[name] = (mean, len(values))
    return found
