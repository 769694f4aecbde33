"""The hypotheses of a beam search: which go on, which have ended, which sentences are done.

Nothing here knows the model: scores of the next pieces come in, and out goes which hypotheses go
on with which pieces. b sentences left, K hypotheses of each, V pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearhead.model.candidates import best_pieces, log_sum_exp
from clearhead.model.hypotheses import Hypothesis, Pieces, Search

__all__ = ["Beams"]


@dataclass
class _Found:
    """What one sentence has so far."""

    ended: list[Hypothesis] = field(default_factory=list)
    cut: list[Hypothesis] = field(default_factory=list)

    def complete(self) -> int:
        return sum(not hypothesis.lost for hypothesis in self.ended)

    def best(self, count: int) -> list[Hypothesis]:
        def rank(hypothesis: Hypothesis) -> tuple[bool, int, float]:
            return not hypothesis.finished, hypothesis.lost, -hypothesis.score

        return sorted(self.ended + self.cut, key=rank)[:count]


class Beams:
    """The sentences that are searched together: they leave as they are done.

    Args:
        sources: the pieces of every sentence.
        pieces: what the special ones are.
        how: beam, lengths, and so on.
        numbers: for every sentence those that may be written, in digits; none at all is any.

    Attributes:
        ids, lengths: the sources, padded on the right, and how many pieces of each count.
        left: which sentences are not done.

    Example:
        >>> beams = Beams([[5, 6, 0]], Pieces(end=0, pad=1, special=2), Search(beam=1))
        >>> kept, parents, chosen = beams.advance(np.array([[0.0, 0, 9, 0]], np.float32))
        >>> chosen.tolist(), beams.advance(np.array([[9.0, 0, 0, 0]], np.float32))[0].tolist()
        ([[2]], [])
        >>> beams.best()[0][0].ids
        (2,)
    """

    def __init__(
        self,
        sources: Sequence[Sequence[int]],
        pieces: Pieces,
        how: Search,
        numbers: Sequence[frozenset[str]] | None = None,
    ) -> None:
        self.pieces, self.how = pieces, how
        self.numbers = numbers or [frozenset()] * len(sources)
        self.lengths = np.array([len(source) for source in sources], np.int64)
        self.ids = np.full((len(sources), int(self.lengths.max())), pieces.pad, np.int64)
        for row, source in zip(self.ids, sources, strict=True):
            row[: len(source)] = source
        self.found = [_Found() for _ in sources]
        # Of the sentences that are left: which they are, and where each hypothesis stands.
        self.left = np.arange(len(sources))
        self.limits = np.array([how.limit(len(source)) for source in sources], np.int64)
        self.totals = np.zeros((len(sources), 1))  # (b, K) log-probabilities so far
        self.written = np.empty((len(sources), 1, 0), np.int64)  # (b, K, pieces so far)
        self.spoken = np.zeros((len(sources), 1), bool)  # anything but white space yet?
        has = self.ids[:, :, None] == np.array(pieces.slots, np.int64)
        self.to_carry = has.sum(axis=1)[:, None, :]  # (b, K, slots) how often each is still due

    def advance(self, scores: Any) -> tuple[Any, Any, Any]:
        """One step.

        Args:
            scores: (b · K, V) of every piece as the next one, before the softmax; it is changed.

        Returns:
            which of the b sentences are left (c,), and for each the hypotheses (c, K) that are
            continued and the pieces (c, K) that they are continued with.
        """
        parents, chosen, totals = self._candidates(scores)
        width, at = self.how.width, self.written.shape[2]
        ends = chosen == self.pieces.end
        for row, k in np.argwhere(ends[:, :width] & np.isfinite(totals[:, :width])).tolist():
            self._set_aside(row, int(parents[row, k]), float(totals[row, k]), finished=True)
        order = np.argsort(ends, axis=1, kind="stable")[:, :width]
        parents, chosen, totals = (
            np.take_along_axis(x, order, axis=1) for x in (parents, chosen, totals)
        )
        alive = np.isfinite(totals).any(axis=1) & (at < self.limits)
        enough = np.array([self.found[i].complete() >= width for i in self.left], bool)
        for row in np.flatnonzero((at >= self.limits) & ~enough).tolist():
            for k in np.flatnonzero(np.isfinite(self.totals[row])).tolist():
                self._set_aside(row, k, float(self.totals[row, k]), finished=False)
        kept = np.flatnonzero(alive & ~enough)
        self._keep(kept, parents[kept], chosen[kept], totals[kept])
        return kept, parents[kept], chosen[kept]

    def best(self) -> list[list[Hypothesis]]:
        """The hypotheses to return of every sentence."""
        return [found.best(self.how.nbest) for found in self.found]

    def _candidates(self, scores: Any) -> tuple[Any, Any, Any]:
        """The best 2 K continuations of every sentence, (b, 2 K) each: K are no ends at least."""
        sentences, beam = self.totals.shape
        lse = log_sum_exp(scores)
        specials = scores[:, : self.pieces.special]
        specials[~self._allowed()] = -np.inf
        blank = list(self.pieces.blank)
        after_blank = np.flatnonzero(np.isin(self._last(), blank))
        scores[after_blank[:, None], blank] = -np.inf
        self._keep_numbers(scores)
        if self.to_carry.any():
            self._make_carry(scores)
        count = min(2 * self.how.width, scores.shape[1])
        pieces, best = best_pieces(scores, count)
        totals = self.totals[:, :, None] + (best - lse[:, None]).reshape(sentences, beam, count)
        totals = totals.reshape(sentences, -1)
        order = np.argsort(-totals, axis=1, kind="stable")[:, :count]
        chosen = np.take_along_axis(pieces.reshape(sentences, -1), order, axis=1)
        return order // count, chosen, np.take_along_axis(totals, order, axis=1)

    def _allowed(self) -> Any:
        """Which special pieces may come next, (b · K, special)."""
        sentences, beam = self.totals.shape
        may = np.zeros((sentences, beam, self.pieces.special), bool)
        may[:, :, list(self.pieces.slots)] = self.to_carry > 0
        may[:, :, self.pieces.end] = self.spoken & (self.written.shape[2] >= self.how.shortest)
        return may.reshape(-1, self.pieces.special)

    def _make_carry(self, scores: Any) -> None:
        """A hypothesis that would rather end than carry what is due may do nothing else.

        It is set aside as it is, and goes on with a slot, or with the space before one.
        """
        due = (self.to_carry > 0).any(axis=2).reshape(-1)
        rows = np.flatnonzero(due & (scores.argmax(axis=1) == self.pieces.end))
        if not len(rows):
            return
        may = np.zeros(scores.shape[1], bool)
        may[: self.pieces.special] = True
        may[list(self.pieces.blank)] = True
        scores[rows] = np.where(may, scores[rows], -np.inf)

    def _keep_numbers(self, scores: Any) -> None:
        beam = self.totals.shape[1]
        for row, sentence in enumerate(self.left.tolist()):
            numbers = self.numbers[sentence]
            if numbers:
                for k in range(beam):
                    written = self.written[row, k].tolist()
                    self.pieces.digits.restrict(scores[row * beam + k], written, numbers)

    def _last(self) -> Any:
        """The last piece of every hypothesis, (b · K,); −1 before the first."""
        if not self.written.shape[2]:
            return np.full(self.totals.size, -1)
        return self.written[:, :, -1].reshape(-1)

    def _keep(self, kept: Any, parents: Any, chosen: Any, totals: Any) -> None:
        of = kept[:, None]
        self.left, self.limits, self.totals = self.left[kept], self.limits[kept], totals
        self.written = np.concatenate([self.written[of, parents], chosen[:, :, None]], axis=2)
        blank = np.isin(chosen, list(self.pieces.blank))
        self.spoken = self.spoken[of, parents] | ~blank
        self.to_carry = np.broadcast_to(
            self.to_carry[of, parents], (*chosen.shape, len(self.pieces.slots))
        )
        self.to_carry = self.to_carry - (
            chosen[:, :, None] == np.array(self.pieces.slots, np.int64)
        )

    def _set_aside(self, row: int, k: int, total: float, *, finished: bool) -> None:
        ids = tuple(int(piece) for piece in self.written[row, k])
        length = max(1, len(ids) + finished)
        found = self.found[self.left[row]]
        hypothesis = Hypothesis(
            ids,
            total,
            total / length**self.how.alpha,
            finished,
            int((self.to_carry[row, k] > 0).sum()),
        )
        (found.ended if finished else found.cut).append(hypothesis)
