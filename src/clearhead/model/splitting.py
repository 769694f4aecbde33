"""Lines that are too long for the model, cut where a reader would pause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clearhead.model.source import SourcePieces
from clearhead.model.vocabulary import SLOTS, Vocabulary

__all__ = ["LONGEST", "split_line"]

LONGEST = 512
"""Pieces of a line that is translated as a whole, the end included."""

_PART = 128  # pieces of a part: training saw few sentences that are longer
# Where to cut, the best place first: after a sentence, after a clause, between words.
_CUTS = (r"(?<=[.!?…。！？])[\"'’”»)\]]*\s+", r"(?<=[,;:，；：])\s+|\s+(?=[–—(])", r"\s+")


def split_line(text: str, vocabulary: Vocabulary | SourcePieces) -> list[str]:
    """Cuts a line of more than 512 pieces into parts that the model can read.

    Every character but white space at the cuts is in one of the parts, in order. A part has at most
    128 pieces and eight words that cannot be spelt, but for a single word that has more.

    Args:
        text: a line.
        vocabulary: of the model, to count pieces.

    Returns:
        the parts; the line itself, if it is short enough.

    Example:
        >>> words = Vocabulary.learn(["so it is."] * 300, size=300, languages=("fr",))
        >>> len(split_line("so it is. " * 200, words)), split_line("so it is.", words)
        (7, ['so it is.'])
    """
    if len(text) < LONGEST or len(vocabulary.encode(text).ids) < LONGEST:
        return [text]
    return list(_packed(_units(text, vocabulary, 0), vocabulary))


def _units(
    text: str, vocabulary: Vocabulary | SourcePieces, level: int
) -> Iterator[tuple[str, int, int]]:
    """Sentences; of one that is too long its clauses, and of such a clause its words."""
    for unit in _cut(text, _CUTS[level]):
        encoded = vocabulary.encode(unit)
        size, slots = len(encoded.ids), len(encoded.slots)
        if level + 1 < len(_CUTS) and (size >= _PART or slots >= SLOTS):
            yield from _units(unit, vocabulary, level + 1)
        else:
            yield unit, size, slots


def _cut(text: str, pattern: str) -> Iterator[str]:
    """The text between the cuts; closing quotes that a cut swallowed stay with what they close."""
    at = 0
    for found in re.finditer(pattern, text):
        end = found.start() + len(found[0].rstrip())
        if end > at:
            yield text[at:end]
        at = found.end()
    if at < len(text):
        yield text[at:]


def _packed(
    units: Iterable[tuple[str, int, int]], vocabulary: Vocabulary | SourcePieces
) -> Iterator[str]:
    """Units joined by a space, as many as fit into a part."""
    held: list[str] = []
    pieces = words = 0
    for unit, size, slots in units:
        if held and (pieces + size >= _PART or words + slots > SLOTS):
            yield " ".join(held)
            held, pieces, words = [], 0, 0
        held.append(unit)
        pieces, words = pieces + size, words + slots
    if held:
        yield " ".join(held)
