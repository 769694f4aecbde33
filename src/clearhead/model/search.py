"""Greedy and beam search, many sentences at once.

A hypothesis that chooses the end is set aside; the K best of the others go on. A sentence is done
when K have ended, or at its greatest length; it then leaves the batch, and takes its caches along.
Hypotheses are compared by log-probability / length^α (Wu et al. 2016, section 7, without the 5),
the end counted in both. b sentences left, K hypotheses, V pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearhead.errors import ArgumentError
from clearhead.inputs.arrays import as_numpy, in_library_of
from clearhead.model import decoding
from clearhead.model.candidates import best_pieces, log_sum_exp
from clearhead.model.config import TranslationConfig
from clearhead.model.translation import encode, logits

__all__ = ["Hypothesis", "Pieces", "Search", "search"]


@dataclass(frozen=True)
class Hypothesis:
    """A translation in pieces, and how probable the model finds it.

    Attributes:
        ids: the pieces, without language tag and end.
        log_probability: natural logarithm, summed over the pieces and, if it ended, the end.
        score: ``log_probability`` / length^α, by which hypotheses are compared.
        finished: whether it chose to end; False where the greatest length cut it off.
        lost: slots of the source that it does not carry over.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float
    finished: bool = True
    lost: int = 0


@dataclass(frozen=True)
class Pieces:
    """Which pieces mean something to a search.

    Attributes:
        end, pad: the two.
        special: pieces below this number are special: of these only the end and the slots that
            the source has can be generated, each slot as often as the source has it.
        slots: pieces that carry a word over.
        blank: pieces that are white space alone; nothing ends before any other was written.
    """

    end: int
    pad: int
    special: int
    slots: tuple[int, ...] = ()
    blank: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Search:
    """How to search.

    Attributes:
        beam: K, how many hypotheses go on; 1 is greedy.
        nbest: how many to return; more than ``beam`` widens the beam.
        alpha: α of the length normalisation; 0 is none, which prefers short text.
        shortest: pieces before the end may be chosen.
        longest: pieces at most; None is twice the source's and ten.
        batch: sentences at once; None is as many as make some 256 hypotheses.

    Raises:
        ArgumentError: a number that cannot be meant.
    """

    beam: int = 4
    nbest: int = 1
    alpha: float = 1.0
    shortest: int = 1
    longest: int | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        for name, least in (
            ("beam", 1),
            ("nbest", 1),
            ("shortest", 0),
            ("longest", 1),
            ("batch", 1),
        ):
            found = getattr(self, name)
            if found is None and name in ("longest", "batch"):
                continue
            if isinstance(found, bool) or not isinstance(found, int) or found < least:
                raise ArgumentError(
                    f"{name} is {found!r}; wanted a whole number of {least} or more"
                )
        if not 0 <= self.alpha <= 10:
            raise ArgumentError(f"alpha is {self.alpha!r}; wanted a number from 0 to 10")

    @property
    def width(self) -> int:
        """Hypotheses that go on: enough for what is to be returned."""
        return max(self.beam, self.nbest)

    @property
    def at_once(self) -> int:
        """Sentences in a batch."""
        return self.batch or max(1, 256 // self.width)

    def limit(self, source: int) -> int:
        """Most pieces of the translation of ``source`` pieces."""
        return self.longest or 2 * source + 10


def search(
    weights: Mapping[str, Any],
    config: TranslationConfig,
    sources: Sequence[Sequence[int]],
    pieces: Pieces,
    language: int,
    how: Search = Search(),  # noqa: B008  frozen
) -> list[list[Hypothesis]]:
    """Translates sentences in pieces.

    What shares a batch, and in which order the sentences come, changes nothing but rounding.

    Args:
        weights, config: of the model.
        sources: the pieces of every sentence, the end included; at least one piece each.
        pieces: what the special ones are.
        language: the tag that begins every translation.
        how: beam, lengths, and so on.

    Returns:
        for every sentence its best hypotheses, at most ``how.nbest`` and at least one: those that
        carry all slots first, finished ones before cut-off ones, then by score.
    """
    if any(not len(source) for source in sources):
        raise ArgumentError("a source has no pieces; wanted at least the end")
    by_length = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    found: dict[int, list[Hypothesis]] = {}
    for at in range(0, len(by_length), how.at_once):
        chosen = by_length[at : at + how.at_once]
        batch = _Batch([sources[i] for i in chosen], pieces, how)
        found.update(zip(chosen, batch.run(weights, config, language), strict=True))
    return [found[i] for i in range(len(sources))]


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


class _Batch:
    """The sentences that are searched together: rows leave as they are done."""

    def __init__(self, sources: Sequence[Sequence[int]], pieces: Pieces, how: Search) -> None:
        self.pieces, self.how = pieces, how
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

    def run(
        self, weights: Mapping[str, Any], config: TranslationConfig, language: int
    ) -> list[list[Hypothesis]]:
        table = weights["embedding"]
        lengths = in_library_of(self.lengths, table)
        memory = encode(weights, config, in_library_of(self.ids, table), lengths)
        state = decoding.start(weights, config, memory, lengths)
        last = np.full((len(self.left), 1), language, np.int64)
        while len(self.left):
            hidden = decoding.step(weights, config, in_library_of(last, table), state)
            scores = as_numpy(logits(weights, hidden)).reshape(-1, table.shape[0])
            kept, parents, last = self._advance(scores)
            if len(kept):
                decoding.choose(state, kept, parents)
        return [found.best(self.how.nbest) for found in self.found]

    def _advance(self, scores: Any) -> tuple[Any, Any, Any]:
        """One step: (b · K, V) scores to the sentences kept, their parents and next pieces."""
        parents, chosen, totals = self._candidates(scores)
        width, at = self.how.width, self.written.shape[2]
        ends = chosen == self.pieces.end
        for row, k in np.argwhere(ends[:, :width] & np.isfinite(totals[:, :width])):
            self._set_aside(row, parents[row, k], float(totals[row, k]), finished=True)
        order = np.argsort(ends, axis=1, kind="stable")[:, :width]
        parents, chosen, totals = (
            np.take_along_axis(x, order, axis=1) for x in (parents, chosen, totals)
        )
        alive = np.isfinite(totals).any(axis=1) & (at < self.limits)
        enough = np.array([self.found[i].complete() >= width for i in self.left], bool)
        for row in np.flatnonzero((at >= self.limits) & ~enough):
            for k in np.flatnonzero(np.isfinite(self.totals[row])):
                self._set_aside(row, k, float(self.totals[row, k]), finished=False)
        kept = np.flatnonzero(alive & ~enough)
        self._keep(kept, parents[kept], chosen[kept], totals[kept])
        return kept, parents[kept], chosen[kept]

    def _candidates(self, scores: Any) -> tuple[Any, Any, Any]:
        """The best 2 K continuations of every sentence, (b, 2 K) each: K are no ends at least."""
        sentences, beam = self.totals.shape
        lse = log_sum_exp(scores)
        specials = scores[:, : self.pieces.special]
        specials[~self._allowed()] = -np.inf
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

    def _keep(self, kept: Any, parents: Any, chosen: Any, totals: Any) -> None:
        of, width = kept[:, None], chosen.shape[1]
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
