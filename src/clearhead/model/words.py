"""Words as people see them: what stands between spaces, its punctuation apart."""

from __future__ import annotations

import re
import unicodedata

__all__ = [
    "JOINERS",
    "LONGEST_WORD",
    "all_words",
    "is_mark",
    "is_no_word",
    "words",
    "words_and_runs",
]

LONGEST_WORD = 100
"""Characters of the longest run between spaces that is taken for words."""

# Without the brackets, quotes and marks that stand around it in a sentence.
_ADDRESS = r"(?:[A-Za-z][A-Za-z0-9+.-]*://|www\.|[\w.+-]+@(?=[\w-]+\.))\S*[^\s.,;:!?'\"’”»)\]>]"
_MARKS = r"(?:[^\w\s]|_){17,}"  # a dotted line, a row of dashes: no sentence has as many in a row
_ROW, _NO_WORD = re.compile(_MARKS), re.compile(f"{_ADDRESS}|{_MARKS}")
JOINERS = frozenset("'’-")
"""Marks that stand within words: "didn't", "twenty-one"."""


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
        if not is_mark(text[start]):
            while at < end and _goes_on(text, at):
                at += 1
        found.append((start, at))
    return found


def words_and_runs(text: str) -> list[tuple[int, int]]:
    """Where the words are, as :func:`words`, but what is no word counts as one: an address of the
    web or of mail, more than 16 marks in a row, and a run too long for words.

    Example:
        >>> text = "See https://example.org/a?b=1, please."
        >>> [text[a:b] for a, b in words_and_runs(text)]
        ['See', 'https://example.org/a?b=1', ',', 'please', '.']
    """
    if all_words(text):
        return words(text)
    found: list[tuple[int, int]] = []
    for run in re.finditer(r"\S+", text):
        start, end = run.span()
        if end - start > LONGEST_WORD:
            found.append((start, end))
            continue
        for no_word in _NO_WORD.finditer(text, start, end):
            first, last = no_word.span()
            found += [(start + a, start + b) for a, b in words(text[start:first])]
            found.append((first, last))
            start = last
        found += [(start + a, start + b) for a, b in words(text[start:end])]
    return found


def all_words(text: str) -> bool:
    """Whether a text is short, and holds nothing that is no word.

    Example:
        >>> all_words("It is."), all_words("It is at www.example.org.")
        (True, False)
    """
    address = "@" in text or "//" in text or "www." in text  # the whole pattern takes its time
    sought = _NO_WORD if address else _ROW
    return len(text) <= LONGEST_WORD and sought.search(text) is None


def is_no_word(word: str) -> bool:
    """Whether it is an address, a row of marks or too long for a word: nothing to translate.

    Example:
        >>> is_no_word("me@example.org"), is_no_word("me"), is_no_word("x" * 101)
        (True, False, True)
    """
    return len(word) > LONGEST_WORD or _NO_WORD.fullmatch(word) is not None


def _goes_on(text: str, at: int) -> bool:
    """Whether the word that holds ``text[at - 1]`` holds ``text[at]`` too."""
    if text[at].isspace():
        return False
    if not is_mark(text[at]):
        return True
    after = text[at + 1 : at + 2]
    return text[at] in JOINERS and bool(after) and not after.isspace() and not is_mark(after)


def is_mark(character: str) -> bool:
    """Whether a character is a punctuation mark."""
    return unicodedata.category(character).startswith("P")
