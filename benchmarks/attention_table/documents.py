"""Figures in the documents, written from the records: nobody copies a number by hand.

A page marks each place by a pair of comments, ``<!-- NAME -->`` and ``<!-- end NAME -->``; what is
between them is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .cells import CELLS, Cell
from .limit import UNITS, best_rates, peak
from .peers import PEERS
from .picture import draw
from .ratios import Record, cell_of, geometric_mean, means, ratio, share, verdicts
from .records import Records

__all__ = ["filled", "front_table", "full_table", "machine_table", "write"]

ROOT = Path(__file__).parents[2]


def write(records: Records, root: Path = ROOT) -> list[Path]:
    """Renew README.md, docs/speed.md and docs/speed.svg; returns what was written."""
    front, page, picture = root / "README.md", root / "docs/speed.md", root / "docs/speed.svg"
    tables = "\n\n".join(full_table(records, kind) for kind in records.kinds)
    changed = {
        front: filled(front.read_text(), "speed", front_table(records)),
        page: filled(filled(page.read_text(), "machine", machine_table(records)), "tables", tables),
    }
    draw(records, picture, _front_kinds(records))
    for path, text in changed.items():
        path.write_text(text)
    return [*changed, picture]


def filled(page: str, name: str, text: str) -> str:
    """The page with the text between the comments of that name.

    >>> filled("<!-- a -->\\nold\\n<!-- end a -->", "a", "new")
    '<!-- a -->\\n\\nnew\\n\\n<!-- end a -->'
    """
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise SystemExit(f"found no single pair of {begin} and {end} in the page")
    head, rest = page.split(begin)
    return f"{head}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}"


def _table(head: list[str], body: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _times(value: float | None, miss: bool = False) -> str:
    """A ratio as the tables have it; an arrow where it misses its floor."""
    if value is None:
        return "–"
    return f"{value:.2f}{' ↓' if miss else ''}"


def full_table(records: Records, kind: str) -> str:
    """Every cell of a kind: ours, the limit, what was aimed at, and every peer."""
    rates, cells = best_rates(records.rates), records.of(kind)
    head = [kind, "ours, ms", "of the limit", "torch", "aim", "looking"]
    peers = [peer for peer in PEERS if any(ratio(r, peer.name) for r in cells)]
    body = [_full_row(record, rates, [peer.name for peer in peers]) for record in cells]
    found = means(cells)
    shown = [f"{found[p.name][0]:.2f}" if p.name in found else "–" for p in peers]
    torch = f"{found['torch'][0]:.2f}" if "torch" in found else "–"
    looked = geometric_mean(ratio(record, "looking") for record in cells)
    body.append(["geometric mean", "", "", torch, "", _times(looked), *shown])
    return _table([*head, *(peer.title for peer in peers)], body)


def _full_row(record: Record, rates: dict[str, Any], peers: list[str]) -> list[str]:
    cell = cell_of(record)
    missed = {goal.of for goal, _, verdict in verdicts(record, rates) if verdict == "miss"}
    aims = {goal.of: goal for goal in cell.goals(record["kind"])}
    mine = record["peers"]["ours"].get("median")
    part = share(record, rates)
    torch, aim = _times(ratio(record, "torch"), "torch" in missed), _aim(aims["torch"])
    if "viewed" in record["peers"]:
        torch += f"; on a view {_times(ratio(record, 'viewed'), 'viewed' in missed)}"
        aim += f"; {_aim(aims['viewed'])}" if "viewed" in aims else ""
    return [
        cell.title,
        "–" if mine is None else f"{mine * 1e3:.3g}",
        "–" if part is None else f"{part:.0%}{' ↓' if 'share' in missed else ''}",
        torch,
        aim,
        _times(ratio(record, "looking"), "looking" in missed),
        *(_times(r, r is not None and r < 1) for r in (ratio(record, name) for name in peers)),
    ]


def _aim(goal: Any) -> str:
    """The floor, and what lies beyond it where something does."""
    beyond = "" if goal.beyond == float("inf") else f" / {goal.beyond:g}"
    return f"{goal.floor:.3g}{beyond}"


def machine_table(records: Records) -> str:
    """The machine, its rates, and which peers in which versions."""
    rates, machine = best_rates(records.rates), records.machine or {}
    giga = {name: f"{value / 1e9:,.1f}" for name, value in rates.items() if name != "read"}
    lines = [
        f"Measured {records.cells[-1]['day']} on {machine['processor']}, {machine['threads']}"
        f" threads, our {machine['isa']} kernels.",
        "",
        _table(["rate, all threads", "a second"], _rate_rows(giga, rates)),
        "",
        "Beside " + ", ".join(f"{v}" for v in dict.fromkeys(records.versions.values())) + ".",
    ]
    absent = ", ".join(records.absent)
    return "\n".join([*lines, *([f"Not installed: {absent}."] if absent else [])])


def _rate_rows(giga: dict[str, str], rates: dict[str, Any]) -> Iterable[list[str]]:
    names = {
        "fma_float32": "multiply-adds in float32",
        "dot_bfloat16": "dot products in bfloat16",
        "tiles_bfloat16": "tile products in bfloat16",
        "fma_float16": "multiply-adds in float16",
    }
    for unit, text in names.items():
        if unit in giga:
            kinds = ", ".join(k for k, units in UNITS.items() if peak(k, rates) == rates[unit])
            peaks = f" (the peak of {kinds})" if kinds and unit in sum(UNITS.values(), ()) else ""
            yield [text + peaks, f"{giga[unit]} G operations"]
    for degree in (4, 5):
        if f"exp_degree_{degree}" in giga:
            yield [f"exponentials of degree {degree}", f"{giga[f'exp_degree_{degree}']} G"]
    for size, speed in sorted(rates.get("read", {}).items(), key=lambda one: int(one[0])):
        yield [f"reading {int(size) / 1e6:,.0f} MB", f"{speed / 1e9:,.1f} GB"]


def front_table(records: Records) -> str:
    """What the README shows: the picture, the means, and the plain shapes."""
    machine = records.machine or {}
    told = "; ".join(_told(records, kind) for kind in records.kinds)
    text = (
        f"![How many times as long other CPU attention takes as Clearhead](docs/speed.svg)\n\n"
        f"Forward pass, {machine['threads']} threads of {machine['processor']}"
        f" ({machine['isa']}), every result checked against float64 first,\n"
        "all peers in turn in one run. Geometric mean over the cells of how many times as long"
        f" they take:\n{told}. How to read it, the physical limit and every peer:"
        " [docs/speed.md](docs/speed.md)."
    )
    plain = [c for c in CELLS if c.looked and c.mask == "none"]
    kinds = _front_kinds(records)
    head = ["(batch, heads, length, width)"]
    head += [title for kind in kinds for title in (kind, "causal")]
    body = [_front_row(cell, records, kinds) for cell in plain]
    looking = (
        "Beside torch, shape by shape. *Looking* is what the top 8 links, entropy and log-sum-exp"
        "\nof every query cost in the same pass, over our own plain pass."
    )
    return "\n\n".join([text, looking, _table([*head, "looking"], body)])


def _front_kinds(records: Records) -> list[str]:
    """The kinds of the front page: two fit its width, and float16 has its table on the other."""
    return [kind for kind in records.kinds if kind != "float16"] or records.kinds


def _told(records: Records, kind: str) -> str:
    found = means(records.of(kind))
    titles = {"torch": "torch", **{peer.name: peer.title for peer in PEERS}}
    return f"in {kind} " + ", ".join(
        f"{titles[name]} {mean:.1f}" for name, (mean, _) in found.items() if name in titles
    )


def _front_row(cell: Cell, records: Records, kinds: list[str]) -> list[str]:
    """Ratios to torch without a mask and causal, by kind; and looking in the first kind."""

    def of(kind: str, name: str) -> Record | None:
        return next((r for r in records.of(kind) if r["cell"] == name), None)

    def times(record: Record | None, over: str = "torch", digits: int = 1) -> str:
        value = None if record is None else ratio(record, over)
        return "–" if value is None else f"{value:.{digits}f} x"

    row = [re.sub(r",? causal", "", cell.title)]
    for kind in kinds:
        row += [times(of(kind, cell.name)), times(of(kind, f"{cell.name}-causal"))]
    return [*row, times(of(kinds[0], cell.name), "looking", 2)]
