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
from clearhead.model.rules import Growing, Prefix, Rules

__all__ = ["Beams"]


@dataclass
class _Found:
    """What one sentence has so far."""

    ended: list[Hypothesis] = field(default_factory=list)
    cut: list[Hypothesis] = field(default_factory=list)

    def complete(self) -> int:
        return sum(not hypothesis.lost for hypothesis in self.ended)

    def best(self) -> list[Hypothesis]:
        return sorted(self.ended + self.cut, key=Hypothesis.rank)


class Beams:
    """The sentences that are searched together: they leave as they are done.

    Args:
        sources: the pieces of every sentence.
        pieces: what the special ones are.
        how: beam, lengths, and so on.
        numbers: for every sentence those that may be written, in digits; none at all is any.
        prefixes: for every sentence how its translation must begin.

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
        prefixes: Sequence[Prefix] | None = None,
    ) -> None:
        self.pieces, self.how = pieces, how
        self.rules = Rules(pieces, how, numbers or [frozenset()] * len(sources), prefixes)
        self.lengths = np.array([len(source) for source in sources], np.int64)
        self.ids = np.full((len(sources), int(self.lengths.max())), pieces.pad, np.int64)
        for row, source in zip(self.ids, sources, strict=True):
            row[: len(source)] = source
        self.found = [_Found() for _ in sources]
        # Of the sentences that are left: which they are, and where each hypothesis stands.
        self.left = np.arange(len(sources))
        fixed = [len(prefix.ids) for prefix in prefixes or ()] or [0] * len(sources)
        self.limits = np.array(list(map(how.limit, self.lengths.tolist(), fixed)), np.int64)
        self.totals = np.zeros((len(sources), 1))  # (b, K) log-probabilities so far
        self.growing = Growing(self.ids, pieces)

    def advance(self, scores: Any) -> tuple[Any, Any, Any]:
        """One step.

        Args:
            scores: (b · K, V) of every piece as the next one, before the softmax; it is changed.

        Returns:
            which of the b sentences are left (c,), and for each the hypotheses (c, K) that are
            continued and the pieces (c, K) that they are continued with.
        """
        parents, chosen, totals = self._candidates(scores)
        width, at = self.how.width, self.growing.length
        ends = chosen == self.pieces.end
        for row, k in np.argwhere(ends[:, :width] & np.isfinite(totals[:, :width])).tolist():
            self._set_aside(row, int(parents[row, k]), float(totals[row, k]), finished=True)
        # Where all is given, one hypothesis of each is enough: the others would be none.
        going = 1 if self.rules.all_forced(at, self.left) else width
        if ends[:, :going].any():
            order = np.argsort(ends, axis=1, kind="stable")
            parents, chosen, totals = (
                np.take_along_axis(x, order, axis=1) for x in (parents, chosen, totals)
            )
        parents, chosen, totals = parents[:, :going], chosen[:, :going], totals[:, :going]
        alive = np.isfinite(totals).any(axis=1) & (at < self.limits)
        enough = np.array([self.found[i].complete() >= width for i in self.left], bool)
        for row in np.flatnonzero(~alive & ~enough).tolist():
            for k in np.flatnonzero(np.isfinite(self.totals[row])).tolist():
                self._set_aside(row, k, float(self.totals[row, k]), finished=False)
        kept = np.flatnonzero(alive & ~enough)
        self._keep(kept, parents[kept], chosen[kept], totals[kept])
        return kept, parents[kept], chosen[kept]

    def best(self) -> list[list[Hypothesis]]:
        """The hypotheses of every sentence that have ended or were cut off, best first."""
        return [found.best() for found in self.found]

    def _candidates(self, scores: Any) -> tuple[Any, Any, Any]:
        """The best 2 K continuations of every sentence, (b, 2 K) each: K are no ends at least."""
        sentences, beam = self.totals.shape
        lse = log_sum_exp(scores)
        self.rules.apply(scores, self.growing, self.left)
        count = min(2 * self.how.width, scores.shape[1])
        pieces, best = best_pieces(scores, count)
        totals = self.totals[:, :, None] + (best - lse[:, None]).reshape(sentences, beam, count)
        totals = totals.reshape(sentences, -1)
        if beam == 1:  # they are in order
            return np.zeros_like(pieces), pieces, totals
        order = np.argsort(-totals, axis=1, kind="stable")[:, :count]
        chosen = np.take_along_axis(pieces.reshape(sentences, -1), order, axis=1)
        return order // count, chosen, np.take_along_axis(totals, order, axis=1)

    def _keep(self, kept: Any, parents: Any, chosen: Any, totals: Any) -> None:
        self.left, self.limits, self.totals = self.left[kept], self.limits[kept], totals
        self.growing.go_on(kept, parents, chosen)

    def _set_aside(self, row: int, k: int, total: float, *, finished: bool) -> None:
        ids = tuple(int(piece) for piece in self.growing.written[row, k])
        score = self.how.normalised(total, len(ids) + finished)
        lost = int((self.growing.to_carry[row, k] > 0).sum())
        found = self.found[self.left[row]]
        (found.ended if finished else found.cut).append(
            Hypothesis(ids, total, score, finished, lost)
        )
