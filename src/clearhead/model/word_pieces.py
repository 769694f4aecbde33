"""Pieces within words: which carry on the word that they stand after."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearhead.model.vocabulary import Vocabulary
from clearhead.model.words import JOINERS, is_mark

__all__ = ["carrying_on"]


def carrying_on(vocabulary: Vocabulary) -> Any:
    """Which pieces carry on the word that they stand after, (V,) bool: the others begin one.

    An apostrophe or a hyphen is taken to carry on, as it does between letters.

    Example:
        >>> words = Vocabulary.learn(["the cat"] * 99, size=300, languages=("fr",))
        >>> carries = carrying_on(words)
        >>> [bool(carries[words.encode(text).ids[-1]]) for text in (" the", " t!", " t-", " t1")]
        [False, False, True, True]
    """
    found = np.zeros(vocabulary.size, bool)
    for piece in range(vocabulary.special, vocabulary.size):
        name, text = vocabulary.piece(piece), vocabulary.decode([piece])
        if name.startswith("Ġ") or not text or text[0].isspace():
            continue
        if text[0] == "\ufffd":  # part of a character: most that begin with byte E2 are marks
            found[piece] = not name.startswith("â")
        else:
            found[piece] = not is_mark(text[0]) or text[0] in JOINERS
    return found
