"""Evaluation files: TSV whose first line names the columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clearhead.errors import ArgumentError
from clearhead.training.files import read_lines

__all__ = ["Done", "Row", "nothing", "read_table", "sample", "sample_pairs", "where"]

Row = Mapping[str, str]
Done = Callable[[int], None]
"""Called now and then with how many more rows are done."""


def nothing(more: int) -> None:
    """Tells nobody."""


def read_table(path: str | Path) -> list[dict[str, str]]:
    """The rows of a TSV(.gz) file whose first line names the columns.

    Raises:
        ArgumentError: the file is empty or has no rows, or a row has another number of columns.
    """
    lines = read_lines(path)
    if not lines:
        raise ArgumentError(f"{path} is empty; wanted a line that names the columns, then rows")
    lines = [line.removesuffix("\r") for line in lines]
    names, rows = lines[0].removeprefix("\ufeff").split("\t"), []
    for number, line in enumerate(lines[1:], 2):
        columns = line.split("\t")
        if len(columns) != len(names):
            raise ArgumentError(
                f"{path}, line {number}: found {len(columns)} columns; wanted {len(names)}"
            )
        rows.append(dict(zip(names, columns, strict=True)))
    if not rows:
        raise ArgumentError(f"{path} names columns and has no rows; wanted one row at least")
    return rows


def where(
    rows: Sequence[dict[str, str]], conditions: Iterable[tuple[str, str]], name: str = "the file"
) -> list[dict[str, str]]:
    """The rows in which each of some columns has a value, letter by letter.

    Args:
        rows: of a table.
        conditions: (column, value).
        name: of the file, for messages.

    Raises:
        ArgumentError: there is no such column, or no such row.

    Example:
        >>> where([{"en": "a", "core": "1"}, {"en": "b", "core": "0"}], [("core", "1")])
        [{'en': 'a', 'core': '1'}]
    """
    kept = list(rows)
    for column, value in conditions:
        if rows and column not in rows[0]:
            raise ArgumentError(
                f"where: {name} has no column {column!r}; its columns are {', '.join(rows[0])}"
            )
        held = kept
        kept = [row for row in held if row[column] == value]
        if held and not kept:
            found = ", ".join(repr(each) for each in sorted({row[column] for row in held})[:6])
            raise ArgumentError(
                f"where: no row of {name} has {value!r} in {column!r}; found {found}"
            )
    return kept


def sample(rows: Sequence[Any], most: int | None) -> list[Any]:
    """At most ``most`` rows, spread evenly over a sorted file; None is all.

    Example:
        >>> sample(range(10), 4)
        [0, 2, 5, 7]
    """
    if most is None or len(rows) <= most:
        return list(rows)
    return [rows[i * len(rows) // most] for i in range(most)]


def sample_pairs(rows: Sequence[Row], most: int | None) -> list[Row]:
    """As :func:`sample`, but where rows come in pairs (column ``pair``) whole pairs."""
    if most is None or len(rows) <= most or "pair" not in rows[0]:
        return sample(rows, most)
    pairs: dict[str, list[Row]] = {}
    for row in rows:
        pairs.setdefault(row["pair"], []).append(row)
    size = -(-len(rows) // len(pairs))  # rows of a pair
    return [row for pair in sample(list(pairs.values()), max(most // size, 1)) for row in pair]
