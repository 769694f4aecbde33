"""Greedy and beam search, many sentences at once.

A hypothesis that chooses the end is set aside; the K best of the others go on. A sentence is done
when K have ended, at its greatest length, or where nothing more may be written; it then leaves the
batch, and takes its caches along. Hypotheses are compared by log-probability / length^α (Wu et al.
2016, section 7, without the 5), the end counted in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from clearhead.errors import ArgumentError
from clearhead.inputs.arrays import as_numpy, in_library_of
from clearhead.model import decoding
from clearhead.model.beam import Beams
from clearhead.model.caches import choose
from clearhead.model.config import TranslationConfig
from clearhead.model.hypotheses import Hypothesis, Pieces, Search
from clearhead.model.rules import Prefix
from clearhead.model.threads import side_by_side

__all__ = ["search"]

_AT_ONCE = 8_192  # source pieces times hypotheses in a batch


def search(
    weights: Mapping[str, Any],
    config: TranslationConfig,
    sources: Sequence[Sequence[int]],
    pieces: Pieces,
    language: int,
    how: Search,
    done: Callable[[int], None] = lambda sentences: None,
    numbers: Sequence[frozenset[str]] | None = None,
    prefixes: Sequence[Prefix] | None = None,
) -> list[list[Hypothesis]]:
    """Translates sentences in pieces.

    What shares a batch, and in which order the sentences come, changes nothing but rounding.

    Args:
        weights, config: of the model.
        sources: the pieces of every sentence, the end included; at least one piece each.
        pieces: what the special ones are.
        language: the tag that begins every translation.
        how: beam, lengths, and so on.
        done: called after each batch with how many sentences it held.
        numbers: for every sentence those that may be written, in digits (see
            :mod:`clearhead.model.numbers`); None, or none for a sentence, is any.
        prefixes: for every sentence how its translation must begin; None is as the model likes.

    Returns:
        for every sentence all hypotheses that ended or were cut off, at least one and as a rule
        ``how.n_best`` or more: finished ones before cut-off ones, of these those that carry all
        slots first, then by score.
    """
    if any(not len(source) for source in sources):
        raise ArgumentError("sources: found one without pieces; wanted at least the end in each")
    found: dict[int, list[Hypothesis]] = {}

    def run(chosen: list[int]) -> tuple[list[int], list[list[Hypothesis]]]:
        kept = None if numbers is None else [numbers[i] for i in chosen]
        begun = None if prefixes is None else [prefixes[i] for i in chosen]
        beams = Beams([sources[i] for i in chosen], pieces, how, kept, begun)
        _run(beams, weights, config, language)
        return chosen, beams.best()

    batches = _batches([len(source) for source in sources], how)
    for chosen, best in side_by_side(run, batches, how.workers):
        found.update(zip(chosen, best, strict=True))
        done(len(chosen))
    return [found[i] for i in range(len(sources))]


def _batches(lengths: Sequence[int], how: Search) -> Iterator[list[int]]:
    """Sentence numbers, alike in length; long ones in small batches, so that caches stay small."""
    chosen: list[int] = []
    at_once = how.in_batch(len(lengths))
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        too_large = (len(chosen) + 1) * lengths[i] * how.width > _AT_ONCE
        if chosen and (len(chosen) == at_once or too_large):
            yield chosen
            chosen = []
        chosen.append(i)
    if chosen:
        yield chosen


def _run(
    beams: Beams, weights: Mapping[str, Any], config: TranslationConfig, language: int
) -> None:
    """Reads the sources, then lets the hypotheses grow until every sentence is done."""
    table = weights["embedding"]
    state = decoding.read(weights, config, beams.ids, beams.lengths)
    last = np.full((len(beams.left), 1), language, np.int64)
    while len(beams.left):
        hidden = decoding.step(weights, config, in_library_of(last, table), state)
        scores = as_numpy(decoding.next_scores(weights, hidden, state))
        kept, parents, last = beams.advance(scores)
        if len(kept):
            choose(state, kept, parents)
