"""Marked word alignments, in the two forms that are passed around.

Pharaoh's: a line for each pair of sentences, source-target, words counted from 0, "0-0 1-2 2?2",
where ? (or p) marks a possible link. That of the NAACL 2003 shared task (Mihalcea and Pedersen
2003): a line for each link, "0001 1 1 S", sentence, source and target word, counted from 1, S sure
(as when nothing stands there) or P possible. Words are what stands between spaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clearhead.errors import ArgumentError
from clearhead.training.files import read_lines

__all__ = ["Gold", "read_gold", "spaced_words"]

_PHARAOH = re.compile(r"(\d+)([-?p])(\d+)")
_NAACL = re.compile(r"(\d+)\s+(\d+)\s+(\d+)(?:\s+([SP]))?(?:\s+[\d.]+)?")


@dataclass(frozen=True)
class Gold:
    """The marked links of a pair of sentences, as (source word, target word) counted from 0.

    Attributes:
        sure: links that must be there.
        possible: links that may be there; the sure ones are among them.
    """

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def read_gold(path: str | Path, texts: Sequence[tuple[str, str]]) -> list[Gold]:
    """Reads the marked links of each pair of sentences.

    Args:
        path: of the file, in either form.
        texts: (source, target) of each pair; a link to a word that is not there is refused.

    Raises:
        ArgumentError: a line is of neither form, or does not fit the texts; the message names it.

    Example:
        >>> _ = Path("gold.txt").write_text("0-0 1?1\\n")
        >>> sorted(read_gold("gold.txt", [("the cat", "le chat")])[0].possible)
        [(0, 0), (1, 1)]
    """
    lines = read_lines(path)
    marked: list[list[tuple[int, int, bool]]] = [[] for _ in texts]
    first = next((line for line in lines if line.strip()), "")
    if _NAACL.fullmatch(first.strip()):
        _read_naacl(path, lines, marked)
    else:
        _read_pharaoh(path, lines, marked)
    found = []
    for number, (links, (source, target)) in enumerate(zip(marked, texts, strict=True), 1):
        sizes = len(source.split()), len(target.split())
        for i, j, _ in links:
            if not (0 <= i < sizes[0] and 0 <= j < sizes[1]):
                raise ArgumentError(
                    f"{path}, pair {number}: found a link of word {i} to word {j}, counted from 0; "
                    f"the sentences have {sizes[0]} and {sizes[1]} words between spaces"
                )
        sure = frozenset((i, j) for i, j, is_sure in links if is_sure)
        found.append(Gold(sure, frozenset((i, j) for i, j, _ in links)))
    return found


def spaced_words(text: str) -> list[tuple[int, int]]:
    """Where the words are if only spaces part them, as marked alignments count them.

    Example:
        >>> spaced_words("l' eau .")
        [(0, 2), (3, 6), (7, 8)]
    """
    return [found.span() for found in re.finditer(r"\S+", text)]


def _read_pharaoh(
    path: str | Path, lines: Sequence[str], marked: list[list[tuple[int, int, bool]]]
) -> None:
    if len(lines) != len(marked):
        raise ArgumentError(
            f"{path} has {len(lines)} lines; wanted one for each pair of sentences, {len(marked)}"
        )
    for number, (line, links) in enumerate(zip(lines, marked, strict=True), 1):
        for link in line.split():
            found = _PHARAOH.fullmatch(link)
            if found is None:
                raise ArgumentError(
                    f"{path}, line {number}: found {link!r}; wanted links as 0-0 or, where they "
                    "are only possible, 0?0"
                )
            links.append((int(found[1]), int(found[3]), found[2] == "-"))


def _read_naacl(
    path: str | Path, lines: Sequence[str], marked: list[list[tuple[int, int, bool]]]
) -> None:
    for number, line in enumerate(lines, 1):
        found = _NAACL.fullmatch(line.strip())
        if found is None or not 1 <= int(found[1]) <= len(marked):
            raise ArgumentError(
                f"{path}, line {number}: found {line!r}; wanted a sentence from 1 to "
                f"{len(marked)}, two words counted from 1, and S or P, as in 1 1 1 S"
            )
        sentence, i, j = (int(found[n]) - 1 for n in (1, 2, 3))
        marked[sentence].append((i, j, found[4] != "P"))
