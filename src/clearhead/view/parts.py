"""What the views in a terminal are made of: bars, shares, and text in columns."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable
from typing import IO, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from clearhead.view.characters import printable

__all__ = [
    "ACCENT",
    "GUIDED",
    "QUIET",
    "STRONG",
    "ascii_alone",
    "bar",
    "console_for",
    "fitted",
    "paragraph",
    "percent",
    "printed_width",
    "shortened",
]

# Middle tones of the 256-colour table: against white and against black alike their contrast is 4.5
# or more, so they are read in a light and in a dark theme.
ACCENT = "color(29)"  # #00875f
GUIDED = "color(98)"  # #875fd7
QUIET = "color(243)"  # #767676
STRONG = "bold"

_MOST = 100  # columns: longer lines tire the eye
_ROUNDED_DOWN = 0.005


class _Console(Console):
    """A console that leaves it to the caller what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


def console_for(file: IO[str] | None = None, width: int | None = None) -> Console:
    """A console that colours on a terminal alone, and never where NO_COLOR is set."""
    file = file or sys.stdout
    console = _Console(file=file, highlight=False, markup=False, emoji=False, width=width)
    console.width = max(20, min(console.width, _MOST))
    return console


def ascii_alone(console: Console) -> bool:
    """Whether a console can show no more than ASCII, so that bars are drawn with "="."""
    return not console.encoding.lower().startswith("utf")


def bar(share: float, width: int, plain: bool = False) -> str:
    """A bar of ``share`` (0 to 1) of ``width`` columns, to half a column.

    Args:
        share: what is drawn; a share above 0 leaves at least a trace.
        width: columns of the whole.
        plain: whether to draw with "=", where the terminal knows ASCII alone.

    Example:
        >>> bar(0.5, 5), bar(1.0, 5), bar(0.5, 5, plain=True)
        ('━━╸', '━━━━━', '==-')
    """
    halves = round(min(max(share, 0.0), 1.0) * width * 2)
    if share >= _ROUNDED_DOWN:
        halves = max(halves, 1)
    whole, half = ("=", "-") if plain else ("━", "╸")
    return whole * (halves // 2) + half * (halves % 2)


def percent(share: float) -> str:
    """A share in whole per cent, as it is read: never 0 or 100 % where it is not.

    Example:
        >>> percent(0.774), percent(0.001), percent(0.9999), percent(0.0)
        ('77 %', '<1 %', '>99 %', '0 %')
    """
    if 0 < share < _ROUNDED_DOWN:
        return "<1 %"
    if 1 - _ROUNDED_DOWN < share < 1 - 1e-6:
        return ">99 %"
    return f"{round(100 * share)} %"


def printed_width(text: str) -> int:
    """How many columns a printable text takes."""
    return cell_len(text)


def fitted(text: str, width: int, right: bool = False) -> str:
    """Text in exactly ``width`` columns: filled up with spaces, or cut with "…".

    Example:
        >>> fitted("street", 8), fitted("street", 4)
        ('street  ', 'str…')
    """
    shown = printable(
        text[: 4 * width + 4]
    )  # a word of 50,000 letters is cut before it is looked at
    if cell_len(shown) > width:
        shown = set_cell_size(shown, width - 1) + "…"
    room = " " * (width - cell_len(shown))
    return room + shown if right else shown + room


def paragraph(console: Console, text: Any, style: str = "", indent: int = 2) -> Iterable[Text]:
    """The lines of a paragraph, broken between words, each set in by ``indent`` columns."""
    whole = text if isinstance(text, Text) else Text(printable(text), style=style)
    for line in whole.wrap(console, max(console.width - 2 * indent, 10)):
        line.rstrip()
        yield Text(" " * indent).append_text(line)


def shortened(text: str, most: int = 2_000) -> str:
    """A text that may be shown whole; of one that is longer, its beginning and its length.

    Example:
        >>> shortened("a" * 50, most=10)
        'aaaaaaaaaa… (50 characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
