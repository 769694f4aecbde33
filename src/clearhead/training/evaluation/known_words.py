"""Words of a translation that are known to belong to a source word, without marked alignments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["copies", "nouns"]

Span = tuple[int, int]
_LONG = 6  # letters from which a word on both sides is taken for the same word


def nouns(
    source: str,
    target: str,
    of_source: Sequence[Span],
    of_target: Sequence[Span],
    noun: str,
    translation: str,
) -> list[tuple[int, int]]:
    """Where a noun and its translation are, if each stands once in its text.

    Returns:
        (word of the target, word of the source), counted from 0; or nothing.

    Example:
        >>> from clearhead.model.words import words
        >>> texts = "The street was wide.", "La rue était large."
        >>> nouns(*texts, *map(words, texts), "street", "rue")
        [(1, 1)]
    """
    found = []
    for text, spans, word in ((target, of_target, translation), (source, of_source, noun)):
        pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
        places = [m.start() for m in re.finditer(pattern, text, re.IGNORECASE)] if word else []
        if len(places) != 1:
            return []
        found += [i for i, (a, b) in enumerate(spans) if a <= places[0] < b]
    return [(found[0], found[1])]


def copies(
    source: str, target: str, of_source: Sequence[Span], of_target: Sequence[Span]
) -> list[tuple[int, int]]:
    """Words that stand once on each side: numbers, names, and words of six letters or more.

    A name is what has a capital within the sentence, of the source. Shorter words are left out:
    French "son" is no English one.

    Returns:
        (word of the target, word of the source), counted from 0.

    Example:
        >>> from clearhead.model.words import words
        >>> texts = "In 2019 Tom saw a documentation.", "Tom vit une documentation en 2019."
        >>> copies(*texts, *map(words, texts))
        [(0, 2), (3, 5), (5, 1)]
    """
    here, there = ([text[a:b] for a, b in spans] for text, spans in
                   ((source, of_source), (target, of_target)))  # fmt: skip
    once, once_there = Counter(here), Counter(there)
    found = []
    for j, word in enumerate(there):
        if once[word] != 1 or once_there[word] != 1:
            continue
        k = here.index(word)
        name = k > 0 and len(word) > 1 and word[0].isupper()
        long = len(word) >= _LONG and word.isalpha()
        if name or long or any(c.isdigit() for c in word):
            found.append((j, k))
    return found
