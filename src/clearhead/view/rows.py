"""The table of links: how wide its columns are in a terminal, and one row of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from clearhead.view.characters import printable
from clearhead.view.parts import ACCENT, GUIDED, QUIET, STRONG, fitted, printed_width

__all__ = ["columns_of", "name_width", "row_of"]

_LONGEST_NAME = 14
_ROOMY = 72  # columns; below, the mass set aside is not shown line by line
_NARROW = 58  # columns; below, there are no bars either
_LEAST_BAR = 6


def name_width(words: Iterable[str]) -> int:
    """Columns for the words: as many as the longest takes, within reason."""
    longest = max((printed_width(printable(word[:60])) for word in words), default=0)
    return min(max(longest, 8), _LONGEST_NAME)


def columns_of(words: Iterable[str], width: int, aside: int) -> tuple[int, ...]:
    """Widths of: word, looks at, bar, weight, layer, head and, where there is room, special.

    A column of 0 is left out.
    """
    name = name_width(words) if width >= _ROOMY else 8
    if width < _NARROW:  # one space between columns, and the words share what is left
        name = min(max((width - 2 - 15 - 4 - 1 - len("guided")) // 2, 6), 8)
        return name, name, 0, 6, 5, 4
    fixed: tuple[int, ...] = (name, name, 0, 6, 5, 4, aside)
    room = _left(fixed, width)
    if width < _ROOMY or room < _LEAST_BAR:
        fixed = fixed[:-1]
        room = _left(fixed, width)
    return (*fixed[:2], max(min(room, 30), _LEAST_BAR), *fixed[3:])


def _left(columns: tuple[int, ...], width: int) -> int:
    """What the other columns, two spaces behind each, leave for the bar."""
    return width - 2 - sum(columns) - 2 * len(columns) - len("guided")


def row_of(
    columns: tuple[int, ...], texts: Sequence[str], style: str = "", guided: bool = False
) -> Text:
    """One row of the table; ``style`` is of all its texts, else each column has its own."""
    styles = ("", STRONG, ACCENT, "", QUIET, QUIET, QUIET)
    line = Text("  ")
    gap = "  " if columns[2] else " "
    for at, (text, width) in enumerate(zip(texts, columns, strict=False)):
        if width:
            line.append(fitted(text, width, right=at > 2), style or styles[at]).append(gap)
    if guided:
        line.append("guided", GUIDED)
    line.rstrip()
    return line
