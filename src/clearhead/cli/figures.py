"""The figures of ``clearhead evaluate`` on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.cli.manners import say

if TYPE_CHECKING:
    from clearhead.training.evaluation.sheets import Sheet

__all__ = ["show_figures"]

_WIDTH = 120  # of a page, where there is no terminal


def show_figures(found: Mapping[str, Any], tables: Sequence[Sheet]) -> None:
    """Prints the tables, and every head of the encoder where those were measured."""
    from rich.console import Console
    from rich.table import Column, Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH
    for sheet in tables:
        table = Table(Column("", no_wrap=True), *sheet.columns, box=None)
        for row in sheet.rows:
            table.add_row(*row)
        console.print(sheet.title, style="bold", markup=False, soft_wrap=True)
        console.print(table)
        for note in sheet.notes:
            console.print(note, markup=False, soft_wrap=True, style="dim")
        console.print()
    for entry in found["heads"]:
        if entry["kind"] == "encoder":
            _show_heads(console, entry)
    if not tables and not found["heads"]:
        say("no row had all of the words it names: nothing was measured")


def _show_heads(console: Any, entry: Mapping[str, Any]) -> None:
    """Every head of the encoder: how often it looks more, or most, at the right noun."""
    from rich.table import Table

    share = entry["more"] or entry["most"]
    count = len(share[0])
    table = Table("layer", *(f"head {h}" for h in range(count)), box=None)
    for layer, shares in enumerate(share):
        cells = [
            f"{100 * each:.0f} %{' *' if [layer, h] in entry['guided'] else ''}"
            for h, each in enumerate(shares)
        ]
        table.add_row(str(layer), *cells)
    what = "more at the right noun" if entry["more"] else "most at the right noun, of all words"
    name = Path(entry["file"]).name
    title = f'Heads: how often "it" looks {what}, {entry["sentences"]} of {name}'
    console.print(title, style="bold", markup=False, soft_wrap=True)
    console.print(table)
    marked = " ".join(f"({layer}, {head})" for layer, head in entry["guided"])
    told = f"* guided in training: {marked}; no other was" if marked else "no head was guided"
    chance = 50 if entry["more"] else round(100 * entry["most_chance"])
    console.print(f"{told}; chance is {chance} %\n", markup=False)
