"""Words as people see them: what stands between spaces, its punctuation apart."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["LONGEST_WORD", "words", "words_and_runs"]

LONGEST_WORD = 100
"""Characters of the longest run between spaces that is taken for words."""

_JOINERS = frozenset("'’-")


def words(text: str) -> list[tuple[int, int]]:
    """Where the words of a sentence are.

    "didn't" is one word and so is "twenty-one"; every other punctuation mark is a word of its own.

    Args:
        text: any string.

    Returns:
        (from, to) of every word, in characters.

    Example:
        >>> text = "It didn't, did it?"
        >>> [text[a:b] for a, b in words(text)]
        ['It', "didn't", ',', 'did', 'it', '?']
    """
    found: list[tuple[int, int]] = []
    at, end = 0, len(text)
    while at < end:
        if text[at].isspace():
            at += 1
            continue
        start = at
        at += 1
        if not _is_mark(text[start]):
            while at < end and _goes_on(text, at):
                at += 1
        found.append((start, at))
    return found


def words_and_runs(text: str) -> list[tuple[int, int]]:
    """Where the words are, as :func:`words`, but a run too long for words counts as one.

    Example:
        >>> text = "see " + "a.b" * 40
        >>> words_and_runs(text)
        [(0, 3), (4, 124)]
    """
    if len(text) <= LONGEST_WORD:
        return words(text)
    found: list[tuple[int, int]] = []
    for run in re.finditer(r"\S+", text):
        start, end = run.span()
        inside = [(0, end - start)] if end - start > LONGEST_WORD else words(run[0])
        found += [(start + a, start + b) for a, b in inside]
    return found


def _goes_on(text: str, at: int) -> bool:
    """Whether the word that holds ``text[at - 1]`` holds ``text[at]`` too."""
    if text[at].isspace():
        return False
    if not _is_mark(text[at]):
        return True
    after = text[at + 1 : at + 2]
    return text[at] in _JOINERS and bool(after) and not after.isspace() and not _is_mark(after)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("P")
