"""Tables in a Markdown page, between two marks, so that no figure is copied by hand.

The marks are comments, on lines of their own, which no reader of the page sees::

    <!-- scores -->
    <!-- /scores -->

A page may have several such places, each of a name of its own: ``<!-- scores NAME -->``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from clearhead.errors import ArgumentError
from clearhead.training.evaluation.sheets import Sheet

__all__ = ["markdown", "place_of", "rewrite"]


def markdown(sheets: Sequence[Sheet]) -> str:
    """The tables as Markdown, each followed by its notes.

    Example:
        >>> print(markdown([Sheet("BLEU", ("French",), (("test", "50.1"),), ("beam 4",))]))
        | BLEU | French |
        |---|---|
        | test | 50.1 |
        <BLANKLINE>
        beam 4.
    """
    blocks = []
    for sheet in sheets:
        rows = [(sheet.title, *sheet.columns), ("---",) * (1 + len(sheet.columns)), *sheet.rows]
        lines = [
            "|" + "|".join(row) + "|" if row[0] == "---" else f"| {' | '.join(row)} |"
            for row in rows
        ]
        blocks.append("\n".join(lines))
        if sheet.notes:
            blocks.append("; ".join(sheet.notes) + ".")
    return "\n\n".join(blocks)


def place_of(page: str) -> tuple[Path, str]:
    """A page and the name of a place in it, of "PAGE" or "PAGE#NAME".

    Example:
        >>> place_of("README.md#without")[1], place_of("README.md")[1]
        ('without', '')
    """
    path, _, name = page.partition("#")
    return Path(path), name


def rewrite(page: str, text: str, *, write: bool = True) -> None:
    """Puts a text between the marks of a page, instead of what is there.

    Args:
        page: "PAGE", or "PAGE#NAME" for a place with a name.
        text: Markdown.
        write: False only looks whether it could be done.

    Raises:
        ArgumentError: the page is not there, or has not exactly one such place.
    """
    path, name = place_of(page)
    try:
        held = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"page: {path} cannot be read: {error}") from None
    of = f" {name}" if name else ""
    begin, end = f"<!-- scores{of} -->", f"<!-- /scores{of} -->"
    pattern = rf"^{re.escape(begin)}$.*?^{re.escape(end)}$"
    places = re.findall(pattern, held, re.MULTILINE | re.DOTALL)
    if len(places) != 1:
        raise ArgumentError(
            f"page: {path} has {len(places)} places for scores; wanted one, as the lines "
            f"{begin} and {end}"
        )
    if write:
        path.write_text(
            held.replace(places[0], f"{begin}\n{text}\n{end}"), encoding="utf-8", newline="\n"
        )
