"""The likeliest next words of a translation that has begun: words, not pieces.

A word is one piece or several, and ends where the next piece begins another word. So

    P(word | beginning) = Π P(piece | what stands before it) · P(no piece that carries the word on)

and the likeliest words come out in order by a best-first search: what has begun is at least as
probable as what becomes of it (Dijkstra 1959, with −ln P as the way).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.inputs.arrays import as_numpy, in_library_of, namespace
from clearhead.model.candidates import best_pieces, log_sum_exp
from clearhead.model.encoded import Encoded
from clearhead.model.hypotheses import Search
from clearhead.model.numbers import numbers_in
from clearhead.model.rules import Growing, Rules
from clearhead.model.text_model import TextModel
from clearhead.model.translation import decode, encode, logits
from clearhead.model.words import JOINERS, is_mark, words

__all__ = ["NextWord", "next_words"]

_FIRST, _LATER = 64, 16  # pieces that are tried to begin a word, and to carry one on
_AT_ONCE = 8  # beginnings that are read together
_ROUNDS = 40  # readings at most: a model that knows nothing of words would go on for ever


@dataclass(frozen=True)
class NextWord:
    """A word that may come next.

    Attributes:
        word: as it is written; empty where the translation ends here.
        probability: given the source and what stands before.
        ids: its pieces.
    """

    word: str
    probability: float
    ids: tuple[int, ...]


def next_words(
    model: TextModel, text: str, source: Encoded, prefix: Sequence[int], to: int, how: Search
) -> Iterator[NextWord]:
    """The words that may come next, the likeliest first, no two the same.

    What a search may not write does not come: other numbers, or an end before ``min_length``.

    Args:
        model: what translates.
        text: the source.
        source: the same in pieces.
        prefix: the pieces of the translation so far; none at all is its beginning.
        to: the piece that begins every translation.
        how: what is asked of the translation.
    """
    reader = _Reader(model, text, source, prefix, to, how)
    begun: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    done: list[tuple[float, str, tuple[int, ...]]] = []
    seen: set[str] = set()
    for _ in range(_ROUNDS):
        while done and (not begun or done[0][0] <= begun[0][0]):
            cost, word, ids = heapq.heappop(done)
            if word not in seen:
                seen.add(word)
                yield NextWord(word, float(np.exp(-cost)), ids)
        if not begun:
            return
        chosen = [heapq.heappop(begun) for _ in range(min(_AT_ONCE, len(begun)))]
        scores = reader.log_probabilities([ids for _, ids in chosen])
        for (cost, ids), row in zip(chosen, scores, strict=True):
            for piece, score in reader.ways_on(ids, row):
                heapq.heappush(begun, (cost - score, (*ids, piece)))
            word, score = reader.stop(ids, row)
            if np.isfinite(score):
                heapq.heappush(done, (cost - score, word, ids))


class _Reader:
    """Reads beginnings of a word after one prefix, and says how they may go on."""

    def __init__(
        self, model: TextModel, text: str, source: Encoded, prefix: Sequence[int], to: int,
        how: Search,
    ) -> None:  # fmt: skip
        self.model, self.source, self.prefix, self.to = model, source, list(prefix), to
        self.row = np.array([model.row(source)], np.int64)
        self.rules = Rules(model.pieces, how, [numbers_in(text)])
        table = model.weights["embedding"]
        self.memory = encode(model.weights, model.config, in_library_of(self.row, table))
        self.before = self._words(())

    def log_probabilities(self, begun: Sequence[Sequence[int]]) -> Any:
        """Of the piece after each beginning, (n, V)."""
        model = self.model
        rows = [[self.to, *self.prefix, *ids] for ids in begun]
        lengths = np.array([len(row) for row in rows])
        target = np.full((len(rows), int(lengths.max())), model.vocabulary.pad, np.int64)
        for held, row in zip(target, rows, strict=True):
            held[: len(row)] = row
        xp, table = namespace(self.memory), model.weights["embedding"]
        memory = xp.broadcast_to(self.memory, (len(rows), *self.memory.shape[1:]))
        hidden = decode(model.weights, model.config, in_library_of(target, table), memory)
        at = in_library_of(np.arange(len(rows)), table), in_library_of(lengths - 1, table)
        scores = as_numpy(logits(model.weights, hidden[at])).astype(np.float64)
        return scores - log_sum_exp(scores)[:, None]

    def ways_on(self, ids: tuple[int, ...], row: Any) -> Iterator[tuple[int, float]]:
        """The likeliest pieces that begin the word, or carry it on, with their log-probability."""
        if ids and is_mark(self._last(ids)[:1] or " "):
            return
        scores = self._allowed(ids, row)
        scores[0, self.model.pieces.end] = -np.inf
        if ids and not self._is_blank(ids):
            scores[0, ~self.model.carrying_on] = -np.inf
        pieces, best = best_pieces(scores, min(_LATER if ids else _FIRST, scores.shape[1]))
        for piece, score in zip(pieces[0].tolist(), best[0].tolist(), strict=True):
            longer = (*ids, piece)
            if np.isfinite(score) and (self._is_blank(longer) or self._last(longer)):
                yield piece, score

    def stop(self, ids: tuple[int, ...], row: Any) -> tuple[str, float]:
        """The word that stands here, and the log-probability that no piece carries it on."""
        if not ids:
            return "", float(self._allowed(ids, row)[0, self.model.pieces.end])
        word = self._last(ids)
        written = [*self.prefix, *ids]
        if self.model.pieces.digits.within(written, self.rules.numbers[0]):
            return word, -np.inf
        if not word or "\ufffd" in word:  # white space alone, or part of a character
            return word, -np.inf
        if is_mark(word[0]) and word not in JOINERS:
            return word, 0.0
        on = float(np.exp(row[self.model.carrying_on]).sum())
        return word, float(np.log1p(-on)) if on < 1 else -np.inf

    def _allowed(self, ids: tuple[int, ...], row: Any) -> Any:
        """The log-probabilities (1, V), −inf where a search may not write the piece."""
        growing = Growing(self.row, self.model.pieces)
        first = np.zeros(1, np.int64)
        for piece in (*self.prefix, *ids):
            growing.go_on(first, first[:, None], np.array([[piece]]))
        scores = row[None].copy()
        self.rules.apply(scores, growing, first)
        return scores

    def _words(self, ids: tuple[int, ...]) -> list[str]:
        text = self.model.vocabulary.decode([*self.prefix, *ids], self.source.slots)
        return [text[a:b] for a, b in words(text)]

    def _last(self, ids: tuple[int, ...]) -> str:
        """The word that the pieces make after those of the prefix; none where it is not one."""
        *before, last = self._words(ids) or [""]
        return last if before == self.before else ""

    def _is_blank(self, ids: tuple[int, ...]) -> bool:
        return all(piece in self.model.pieces.blank for piece in ids)
