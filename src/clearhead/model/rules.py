"""Which pieces may come next in a translation, and which must.

b sentences left, K hypotheses of each (R = b · K rows), V pieces. A piece that may not come next
gets a score of −inf after the softmax was taken of all, so that the others are not made likelier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.model.hypotheses import Pieces, Search

__all__ = ["Growing", "Prefix", "Rules", "forbid_repeats"]


@dataclass(frozen=True)
class Prefix:
    """How a translation must begin.

    Attributes:
        ids: its first pieces, without the language tag; none at all is any beginning.
        never: (V,) True for pieces that may not come right after them; None is none.
    """

    ids: tuple[int, ...] = ()
    never: Any = None


class Growing:
    """What the hypotheses of b sentences have written so far.

    Args:
        ids: (b, S) the sources.
        pieces: what the special ones are.

    Attributes:
        written: (b, K, t) the pieces.
        spoken: (b, K) whether anything but white space is among them.
        to_carry: (b, K, slots) how often each slot of the source is still due.

    Example:
        >>> growing = Growing(np.array([[3, 6, 0]]), Pieces(end=0, pad=1, special=5, slots=(3, 4)))
        >>> growing.go_on(np.array([0]), np.array([[0, 0]]), np.array([[3, 7]]))
        >>> growing.written.tolist(), growing.to_carry.tolist()
        ([[[3], [7]]], [[[0, 0], [1, 0]]])
    """

    def __init__(self, ids: Any, pieces: Pieces) -> None:
        self.pieces = pieces
        self._blank = np.array(sorted(pieces.blank), np.int64)
        self.written = np.empty((len(ids), 1, 0), np.int64)
        self.spoken = np.zeros((len(ids), 1), bool)
        has = ids[:, :, None] == np.array(pieces.slots, np.int64)
        self.to_carry = has.sum(axis=1)[:, None, :]

    @property
    def length(self) -> int:
        """t, pieces so far."""
        return int(self.written.shape[2])

    def last(self) -> Any:
        """The last piece of every hypothesis, (R,); −1 before the first."""
        if not self.length:
            return np.full(self.spoken.size, -1)
        return self.written[:, :, -1].reshape(-1)

    def go_on(self, kept: Any, parents: Any, chosen: Any) -> None:
        """Keeps sentences (c,), and lets hypotheses (c, K) go on with pieces (c, K)."""
        of = kept[:, None]
        self.written = np.concatenate([self.written[of, parents], chosen[:, :, None]], axis=2)
        self.spoken = self.spoken[of, parents] | ~(chosen[:, :, None] == self._blank).any(axis=2)
        carried = chosen[:, :, None] == np.array(self.pieces.slots, np.int64)
        self.to_carry = self.to_carry[of, parents] - carried


class Rules:
    """What a search may write.

    Args:
        pieces: what the special ones are.
        how: the shortest length, and whether anything may stand twice.
        numbers: for every sentence those that may be written, in digits; none at all is any.
        prefixes: for every sentence how its translation must begin.
    """

    def __init__(
        self,
        pieces: Pieces,
        how: Search,
        numbers: Sequence[frozenset[str]],
        prefixes: Sequence[Prefix] | None = None,
    ) -> None:
        self.pieces, self.how, self.numbers = pieces, how, numbers
        self.prefixes = prefixes
        self._blank = np.array(sorted(pieces.blank), np.int64)

    def apply(self, scores: Any, growing: Growing, left: Any) -> None:
        """Gives −inf to what may not come next.

        Args:
            scores: (R, V) of every piece as the next one; it is changed.
            growing: what is written.
            left: (b,) which sentences these are.
        """
        forced = self._forced(scores, growing, left)
        specials = scores[:, : self.pieces.special]
        specials[~self._allowed(growing)] = -np.inf
        after_blank = np.flatnonzero((growing.last()[:, None] == self._blank).any(axis=1))
        scores[after_blank[:, None], self._blank] = -np.inf
        if self.how.no_repeat:
            self._forbid_repeats(scores, growing, left)
        self._keep_numbers(scores, growing, left)
        if growing.to_carry.any():
            self._make_carry(scores, growing)
        for row, piece, score in forced:
            scores[row] = -np.inf
            scores[row, piece] = score

    def all_forced(self, length: int, left: Any) -> bool:
        """Whether the next piece of every sentence is given."""
        prefixes = self.prefixes
        return prefixes is not None and all(length < len(prefixes[i].ids) for i in left.tolist())

    def _allowed(self, growing: Growing) -> Any:
        """Which special pieces may come next, (R, special)."""
        may = np.zeros((*growing.spoken.shape, self.pieces.special), bool)
        may[:, :, list(self.pieces.slots)] = growing.to_carry > 0
        may[:, :, self.pieces.end] = growing.spoken & (growing.length >= self.how.min_length)
        return may.reshape(-1, self.pieces.special)

    def _make_carry(self, scores: Any, growing: Growing) -> None:
        """A hypothesis that would rather end than carry what is due may do nothing else.

        It is set aside as it is, and goes on with a slot, or with the space before one.
        """
        due = (growing.to_carry > 0).any(axis=2).reshape(-1)
        rows = np.flatnonzero(due & (scores.argmax(axis=1) == self.pieces.end))
        if not len(rows):
            return
        may = np.zeros(scores.shape[1], bool)
        may[: self.pieces.special] = True
        may[self._blank] = True
        scores[rows] = np.where(may, scores[rows], -np.inf)

    def _keep_numbers(self, scores: Any, growing: Growing, left: Any) -> None:
        beam = growing.spoken.shape[1]
        for row, sentence in enumerate(left.tolist()):
            numbers = self.numbers[sentence]
            if numbers:
                for k in range(beam):
                    written = growing.written[row, k].tolist()
                    self.pieces.digits.restrict(scores[row * beam + k], written, numbers)

    def _forbid_repeats(self, scores: Any, growing: Growing, left: Any) -> None:
        """A number that has begun is written to its end, whatever its digits repeat."""
        beam = growing.spoken.shape[1]
        free = [
            row * beam + k
            for row, sentence in enumerate(left.tolist())
            for k in range(beam)
            if not self.pieces.digits.within(growing.written[row, k], self.numbers[sentence])
        ]
        forbid_repeats(scores, growing.written.reshape(len(scores), -1), self.how.no_repeat, free)

    def _forced(self, scores: Any, growing: Growing, left: Any) -> list[tuple[int, int, float]]:
        """The rows that are still within their prefix: the piece that must come, its score."""
        if self.prefixes is None:
            return []
        forced, beam, at = [], growing.spoken.shape[1], growing.length
        for first, sentence in enumerate(left.tolist()):
            prefix = self.prefixes[sentence]
            rows = range(first * beam, (first + 1) * beam)
            if at < len(prefix.ids):
                piece = prefix.ids[at]
                forced += [(row, piece, float(scores[row, piece])) for row in rows]
            elif at == len(prefix.ids) and prefix.never is not None:
                scores[rows.start : rows.stop, prefix.never] = -np.inf
        return forced


def forbid_repeats(scores: Any, written: Any, n: int, rows: Sequence[int]) -> None:
    """Gives −inf to every piece that would make n pieces in a row stand for the second time.

    Args:
        scores: (R, V) of the next piece; it is changed.
        written: (R, t) the pieces so far.
        n: how many in a row; from 1.
        rows: those that are held to it.

    Example:
        >>> scores = np.zeros((1, 9))
        >>> forbid_repeats(scores, np.array([[7, 8, 5, 7]]), 2, [0])
        >>> np.flatnonzero(np.isinf(scores[0])).tolist()
        [8]
    """
    length = written.shape[1]
    if length < n:
        return
    # What followed the n - 1 last pieces wherever they stood before may not follow them again.
    for row in rows:
        past = written[row]
        tail = past[length - n + 1 :]
        earlier = np.lib.stride_tricks.sliding_window_view(past[: length - 1], n - 1)
        same = (earlier == tail).all(axis=1)
        scores[row, past[n - 1 :][same]] = -np.inf
