"""Text from files: lines, pairs of columns, pairs of files side by side."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from clearhead.errors import ArgumentError

__all__ = ["read_dev", "read_lines", "read_pairs", "with_language"]

Place = str | Path | Sequence[str]
"""Where pairs are: "FILE", "FILE#SOURCE,TARGET", or [SOURCE FILE, TARGET FILE]."""


def read_lines(path: str | Path) -> list[str]:
    """The lines of a text file, gzip or plain; only "\\n" ends a line (U+2028 does not).

    Raises:
        ArgumentError: the file is missing, damaged, or not UTF-8.
    """
    path = Path(path)
    try:
        held = path.read_bytes()
        text = (gzip.decompress(held) if path.suffix == ".gz" else held).decode("utf-8")
    except FileNotFoundError as error:
        raise ArgumentError(
            f"{path} is not there; files are found from the folder in which the command runs"
        ) from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ArgumentError(f"{path} cannot be read as UTF-8 text: {error}") from error
    return text.removesuffix("\n").split("\n") if text else []


def read_pairs(place: Place) -> list[tuple[str, str]]:
    """Pairs of source and target.

    Args:
        place: a TSV(.gz) file without a header, of which the first two columns are read;
            "FILE#SOURCE,TARGET" for those two columns of a file whose first line names them; or two
            text files side by side, [SOURCE, TARGET], line by line.

    Raises:
        ArgumentError: a file cannot be read, a line has too few columns, a column is not there, or
            two files differ in their number of lines; the message names the file and the line.

    Example:
        >>> _ = Path("captions.tsv").write_text("id\\ten\\tfr\\n1\\tA dog.\\tUn chien.\\n")
        >>> read_pairs("captions.tsv#en,fr")
        [('A dog.', 'Un chien.')]
    """
    if not isinstance(place, str | Path):
        return _side_by_side(*place)
    path, names = _split(place)
    if names:
        return _columns(path, names)
    found = []
    for number, line in enumerate(read_lines(path), 1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise ArgumentError(
                f"{path}, line {number}: found {len(columns)} column; wanted source TAB target"
            )
        found.append((columns[0], columns[1]))
    return found


def read_dev(place: Place, to: str) -> list[tuple[str, str]]:
    """Pairs of a development set, as :func:`read_pairs`; "FILE" has a header with en and ``to``.

    Raises:
        ArgumentError: as :func:`read_pairs`, or there are no pairs.
    """
    if isinstance(place, str | Path):
        path, names = _split(place)
        found = _columns(path, names or ("en", to))
    else:
        found = _side_by_side(*place)
    if not found:
        raise ArgumentError(f"{place} holds no pairs; wanted some to score translations on")
    return found


def with_language(files: Mapping[str, Sequence[Place]]) -> Iterator[tuple[str, str, str]]:
    """Every pair of every place with its language tag; pairs with an empty side are left out."""
    for tag, places in files.items():
        for place in places:
            for source, target in read_pairs(place):
                if source.strip() and target.strip():
                    yield source, target, tag


def _split(place: str | Path) -> tuple[Path, tuple[str, ...]]:
    """A file and the names of two columns, or none; a file whose own name has a # wins."""
    path = Path(place)
    name, mark, columns = str(place).rpartition("#")
    if not mark or "/" in columns or path.exists():
        return path, ()
    names = tuple(columns.split(","))
    if len(names) != 2 or not all(names):
        raise ArgumentError(
            f"{place}: found the columns {columns!r}; wanted two names after #, as in "
            "pairs.tsv#en,fr"
        )
    return Path(name), names


def _columns(path: Path, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Two columns, by their names in the first line."""
    header, *lines = read_lines(path) or [""]
    known = header.removeprefix("\ufeff").removesuffix("\r").split("\t")
    if missing := [name for name in names if name not in known]:
        raise ArgumentError(
            f"{path}: found the columns {', '.join(known)} in its first line; wanted "
            f"{' and '.join(missing)} too: name two of them, as in {path}#{','.join(known[:2])}"
        )
    first, second = (known.index(name) for name in names)
    found = []
    for number, line in enumerate(lines, 2):
        columns = line.split("\t")
        if len(columns) != len(known):
            raise ArgumentError(
                f"{path}, line {number}: found {len(columns)} columns; wanted {len(known)}"
            )
        found.append((columns[first].rstrip("\r"), columns[second].rstrip("\r")))
    return found


def _side_by_side(source: str | Path, target: str | Path) -> list[tuple[str, str]]:
    """Two files, line by line."""
    one, two = read_lines(source), read_lines(target)
    if len(one) != len(two):
        raise ArgumentError(
            f"{source} has {len(one)} lines and {target} has {len(two)}; wanted one line in each "
            "for every pair"
        )
    return [(a.rstrip("\r"), b.rstrip("\r")) for a, b in zip(one, two, strict=True)]
