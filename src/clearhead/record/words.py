"""A sentence in words, as people see it, and in pieces, as the model read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clearhead.errors import ArgumentError, KindError
from clearhead.inputs.arrays import as_numpy
from clearhead.model.words import words as word_spans

__all__ = ["Piece", "Words"]

_LISTED = 40  # words that a message lists


@dataclass(frozen=True)
class Piece:
    """What the model read at one position.

    Attributes:
        name: of the piece, as the vocabulary spells it.
        span: the characters [from, to) of the sentence it stands for; None for a special piece (an
            end mark, a language tag), which stands for none.
    """

    name: str
    span: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Words:
    """The words of a sentence, and which pieces make up each.

    A word is what stands between spaces, its punctuation apart. Labels always come from the
    sentence, never from a piece: half a character is nothing that can be read.

    Args:
        sentence: the text.
        pieces: what the model read, one piece a position.

    Example:
        >>> pieces = Piece("The", (0, 3)), Piece("can", (3, 7)), Piece("'t", (7, 9)), Piece("</s>")
        >>> said = Words("The can't", pieces)
        >>> said.names, said.special
        (('The', "can't"), ('</s>',))
        >>> said.join(np.full((4, 4), 0.25))
        array([[0.25, 0.5 ],
               [0.25, 0.5 ]])
    """

    sentence: str
    pieces: tuple[Piece, ...]

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Where each word is in the sentence, [from, to) in characters."""
        return word_spans(self.sentence)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The words."""
        return tuple(self.sentence[a:b] for a, b in self.spans)

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def special(self) -> tuple[str, ...]:
        """The names of the pieces that stand for no characters."""
        return tuple(piece.name for piece in self.pieces if piece.span is None)

    @cached_property
    def parts(self) -> Any:
        """How much of each piece belongs to each word, (words, pieces): nearly always 0 or 1."""
        starts, ends = (np.array(side, np.int64) for side in _columns(self.spans))
        spans = [piece.span or (0, 0) for piece in self.pieces]
        first, last = (np.array(side, np.int64) for side in _columns(spans))
        shared = np.minimum(ends[:, None], last) - np.maximum(starts[:, None], first)
        overlap = np.maximum(shared, 0).astype(np.float64)
        whole = overlap.sum(0)
        return overlap / np.where(whole, whole, 1)

    def of(self, word: int) -> list[int]:
        """The pieces of a word, in order."""
        return [int(p) for p in np.flatnonzero(self.parts[word])]

    def join(self, weights: Any, keys: Words | None = None) -> Any:
        """Weights between pieces as weights between words.

        The weight of a word is the sum over the key's pieces and the mean over the query's. What
        special pieces took is not shared out, so a row adds up to less than 1.

        Args:
            weights: (..., N, M) of the pieces.
            keys: the words that are looked at; None is these words themselves.

        Returns:
            (..., words, words of ``keys``), a NumPy array of the same kind.
        """
        held = as_numpy(weights)
        looked_at = keys or self
        if held.shape[-2:] != (len(self.pieces), len(looked_at.pieces)):
            raise ArgumentError(
                f"weights: found {held.shape[-2]} rows and {held.shape[-1]} columns; wanted one "
                f"for each piece, {len(self.pieces)} and {len(looked_at.pieces)}"
            )
        return self.mean(held) @ looked_at.parts.T.astype(held.dtype)

    def mean(self, rows: Any) -> Any:
        """Rows of pieces (..., N, x) as rows of words (..., words, x), the mean of their pieces."""
        held, count = as_numpy(rows), self.parts.sum(1, keepdims=True)
        return (self.parts / np.where(count, count, 1)).astype(held.dtype) @ held

    def find(self, word: str | int) -> list[int]:
        """Where a word is.

        Args:
            word: the word ("it", every one; "it:2", the second), or its index from 0. Case counts
                where the word is written both ways.

        Raises:
            ArgumentError: the sentence has no such word; the message lists those it has.
        """
        if not isinstance(word, str):
            return [self._index(word)]
        found = self._spelt(word)
        name, colon, which = word.rpartition(":")
        if not found and colon and which.isdecimal():
            several = self._spelt(name)
            found = several[int(which) - 1 : int(which)] if which.strip("0") else []
            if several and not found:
                raise ArgumentError(
                    f"word: found {word!r}; the sentence has {name!r} {_times(len(several))}"
                )
        if not found:
            raise ArgumentError(f"word: found {word!r}; the sentence has {self._list()}")
        return found

    def _spelt(self, word: str) -> list[int]:
        exact = [i for i, name in enumerate(self.names) if name == word]
        lower = word.casefold()
        return exact or [i for i, name in enumerate(self.names) if name.casefold() == lower]

    def _index(self, index: Any) -> int:
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise KindError(f"word: found {index!r}; wanted a word or its index")
        number = int(index.__index__())
        if not 0 <= number < len(self):
            raise ArgumentError(f"word: found index {number}; wanted 0 … {len(self) - 1}")
        return number

    def _list(self) -> str:
        different = list(dict.fromkeys(self.names))
        listed = " ".join(different[:_LISTED])
        more = len(different) - _LISTED
        return f"{listed} … and {more} more" if more > 0 else listed

    def __repr__(self) -> str:
        return f"Words({len(self)} words, {len(self.pieces)} pieces)"


def _columns(spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [a for a, _ in spans], [b for _, b in spans]


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"
