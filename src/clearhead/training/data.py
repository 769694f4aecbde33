"""Pairs of sentences, from text to batches of pieces."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.model.vocabulary import Vocabulary
from clearhead.model.words import words

__all__ = ["Batch", "Pairs", "batches", "collate", "prepare"]


@dataclass(frozen=True)
class Pairs:
    """All pairs in pieces, flat: pair i is ``source[source_at[i]:source_at[i + 1]]``, and so on.

    Attributes:
        source: pieces of all sources, each with its end.
        target: pieces of all targets, each with its language tag before and its end behind.
        guide: (pairs, 3) piece of "it", first and last + 1 piece of its antecedent; −1 for none.
    """

    source: Any
    source_at: Any
    target: Any
    target_at: Any
    guide: Any

    def __len__(self) -> int:
        return len(self.guide)


@dataclass(frozen=True)
class Batch:
    """Padded pieces. B pairs, S source and T target positions.

    Attributes:
        source: (B, S); source_lengths: (B,).
        target: (B, T + 1), tag first, end last; target_lengths: (B,), without the tag.
        guide: (B, 3) as in :class:`Pairs`.
        numbers: (B,) which pairs these are.
    """

    source: Any
    source_lengths: Any
    target: Any
    target_lengths: Any
    guide: Any
    numbers: Any

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def tokens(self) -> int:
        """Source and target pieces that count."""
        return int(self.source_lengths.sum() + self.target_lengths.sum())

    def rows(self, chosen: slice) -> Batch:
        """Some of its pairs, padded as before."""
        return Batch(**{name: held[chosen] for name, held in vars(self).items()})


def prepare(
    pairs: Sequence[tuple[str, str, str]],
    vocabulary: Vocabulary,
    *,
    antecedents: Mapping[str, str],
    slots: float,
    seed: int,
    longest: int = 250,
) -> Pairs:
    """Cuts pairs into pieces.

    Args:
        pairs: (source, target, language tag).
        vocabulary: pieces of both sides.
        antecedents: what "it" stands for, by source sentence.
        slots: share of the pairs with shared names in which these become slots, so that the model
            learns to carry over what it cannot spell.
        seed: of that choice.
        longest: pairs with more pieces on a side are left out.
    """
    rng = random.Random(seed)
    tags = {tag: vocabulary.language(tag) for tag in sorted({pair[2] for pair in pairs})}
    sources, targets, guides = [], [], []
    for text, translation, tag in pairs:
        also = _to_replace(text, translation, rng, slots)
        source = vocabulary.source.encode(text, also=also)
        target = vocabulary.encode(translation, slots=source.slots)
        if max(len(source.ids), len(target.ids)) > longest:
            continue
        drawn = _drawn_slots(vocabulary, rng) if source.slots else {}
        sources.append([*(drawn.get(i, i) for i in source.ids), vocabulary.source.end])
        targets.append([tags[tag], *(drawn.get(i, i) for i in target.ids), vocabulary.end])
        guides.append(_guide(text, antecedents.get(text), source.spans))
    return Pairs(*_flat(sources), *_flat(targets), np.array(guides, np.int32).reshape(-1, 3))


def batches(pairs: Pairs, *, tokens: int, seed: int, epoch: int) -> list[Any]:
    """The batches of an epoch, as arrays of pair numbers: alike in length, in random order.

    The order depends on seed and epoch alone, so a run that was interrupted goes on as it would
    have. ``tokens`` bounds the pairs of a batch times the pieces of its longest pair.
    """
    rng = np.random.default_rng((seed, epoch))
    source, target = np.diff(pairs.source_at), np.diff(pairs.target_at)
    order = rng.permutation(len(pairs))
    order = order[np.lexsort((source[order], target[order]))]
    found, start, longest = [], 0, 0
    for i, pair in enumerate(order):
        widest = max(longest, int(source[pair]) + int(target[pair]))
        if i > start and widest * (i - start + 1) > tokens:
            found.append(order[start:i])
            start, widest = i, int(source[pair]) + int(target[pair])
        longest = widest
    if len(order):
        found.append(order[start:])
    return [found[i] for i in rng.permutation(len(found))]


def collate(pairs: Pairs, numbers: Any, pad: int) -> Batch:
    """Pads the chosen pairs to one length."""
    source, source_lengths = _padded(pairs.source, pairs.source_at, numbers, pad)
    target, target_lengths = _padded(pairs.target, pairs.target_at, numbers, pad)
    return Batch(source, source_lengths, target, target_lengths - 1, pairs.guide[numbers], numbers)


def _to_replace(text: str, translation: str, rng: random.Random, share: float) -> frozenset[str]:
    """Names and numbers that stand on both sides, now and then."""
    if rng.random() >= share:
        return frozenset()
    there = {translation[a:b] for a, b in words(translation)}
    names = {text[a:b] for a, b in words(text)[1:]}
    shared = sorted(w for w in names & there if w[0].isupper() or w[0].isdigit())
    return frozenset(word for word in shared if rng.random() < 0.7)


def _drawn_slots(vocabulary: Vocabulary, rng: random.Random) -> dict[int, int]:
    """The slots in another order, so that the last of them are learnt as well as the first."""
    slots = list(vocabulary.slots)
    return dict(zip(slots, rng.sample(slots, len(slots)), strict=True))


def _guide(
    text: str, antecedent: str | None, spans: Sequence[tuple[int, int]]
) -> tuple[int, int, int]:
    """Where the last "it" and its antecedent are, in pieces; −1 where they are not marked."""
    if not antecedent:
        return (-1, -1, -1)
    found = words(text)
    its = [span for span in found if text[span[0] : span[1]].lower() == "it"]
    nouns = [span for span in found if text[span[0] : span[1]].lower() == antecedent.lower()]
    if not its or not nouns:
        return (-1, -1, -1)
    it, noun = its[-1], nouns[0]
    at = [i for i, span in enumerate(spans) if span[1] > it[0] and span[0] < it[1]]
    of = [i for i, span in enumerate(spans) if span[1] > noun[0] and span[0] < noun[1]]
    return (at[0], of[0], of[-1] + 1)


def _flat(rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    at = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=at[1:])
    return np.array([piece for row in rows for piece in row], np.int32), at


def _padded(flat: Any, at: Any, numbers: Any, pad: int) -> tuple[Any, Any]:
    lengths = at[numbers + 1] - at[numbers]
    rows = np.full((len(numbers), int(lengths.max())), pad, np.int64)
    for row, number in zip(rows, numbers, strict=True):
        piece = flat[at[number] : at[number + 1]]
        row[: len(piece)] = piece
    return rows, lengths
