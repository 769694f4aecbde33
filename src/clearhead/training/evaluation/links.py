"""What heads look at from "it": at the right noun?

Two questions, each of every head. Does it look *more* at the right noun than at the other one? By
chance half of the time. And does it look *most* at the right noun, of all other words? By chance
hardly ever: one time in as many as there are other words. Words, and the weight between them, are
those of ``clearhead look``: sum over the pieces that are looked at, mean over those of "it", and
special pieces are no words. See Clark et al. 2019, "What Does BERT Look At?", section 5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.core.observation import Observe
from clearhead.errors import ArgumentError
from clearhead.model.translation import decode, encode
from clearhead.model.words import words
from clearhead.training.evaluation.pronouns import contrast_columns
from clearhead.training.evaluation.tables import Done, Row, nothing

__all__ = ["Heads", "best_unguided", "cross_heads", "heads"]

Span = tuple[int, int]


@dataclass(frozen=True)
class Heads:
    """How often each head looks at the right noun.

    Attributes:
        kind: "encoder", from "it" of the sentence; "cross", from the step of the decoder at which
            it chooses the pronoun.
        sentences: that were read, out of ``rows``.
        rows: of the file.
        more: (layers, heads) share of the sentences, from 0 to 1, in which a head looks more at the
            right noun than at the other; by chance 0.5. None where the file names no other noun.
        most: (layers, heads) share in which it looks most at the right noun, of all words.
        chance: of ``most``: the mean of 1 / words.
        weight: (layers, heads) mean weight on the right noun.
        guided: heads that training pulled to antecedents, as (layer, head).
        hits: (rows, layers, heads) bool, whether most is looked at the right noun; False in rows
            that were left out.
        read: (rows,) bool, which rows were read.
    """

    kind: str
    sentences: int
    rows: int
    more: Any
    most: Any
    chance: float
    weight: Any
    guided: tuple[tuple[int, int], ...]
    hits: Any
    read: Any

    def to_dict(self) -> dict[str, Any]:
        """The figures, without the single sentences."""
        return {
            "kind": self.kind,
            "sentences": self.sentences,
            "rows": self.rows,
            "guided": [list(place) for place in self.guided],
            "more": None if self.more is None else self.more.tolist(),
            "most": self.most.tolist(),
            "most_chance": self.chance,
            "weight": self.weight.tolist(),
        }


def heads(translator: Any, rows: Sequence[Row], done: Done = nothing) -> Heads:
    """What every head of the encoder looks at from the last "it" of a sentence.

    Args:
        translator: as ``load_translator`` gives it.
        rows: with columns ``en``, ``antecedent_en`` and, where known, ``other_en``. Rows in which
            one of the words is not found are left out; and without ``other_en``, those with more
            than one "it", since it is open which one is meant.
        done: called with how many more rows are done.
    """
    config = translator.config
    places = config.encoder_layers, config.heads

    def look(row: Row, text: str, its: Span) -> tuple[Any, Sequence[Span]]:
        source = translator.vocabulary.source
        found = translator.encode(text)
        ids = np.array([[*found.ids, source.end]])
        at = _overlapping(found.spans, its)
        _, seen = encode(translator.weights, config, ids, observe=Observe(rows=at))
        return np.stack([layer.rows[0].mean(1) for layer in seen]), found.spans

    return _judged("encoder", rows, places, look, config.guided, done)


def cross_heads(translator: Any, rows: Sequence[Row], to: str, done: Done = nothing) -> Heads:
    """What every head of the cross-attention looks at as the decoder chooses the pronoun.

    The right translation is read up to the first piece in which it differs from the contrastive
    one: the step that writes this piece is the one that looks.

    Args:
        translator, rows, done: as of :func:`heads`; the rows also have the language and a
            contrastive column of it; those without a contrast are left out.
        to: the language.
    """
    config, vocabulary = translator.config, translator.vocabulary
    places = config.decoder_layers, config.heads
    tag = vocabulary.language(to)
    columns = contrast_columns(rows[0], to) if rows else []

    def look(row: Row, text: str, its: Span) -> tuple[Any, Sequence[Span]] | None:
        found = translator.encode(text)
        right, *others = (" ".join(row[name].split()) for name in (to, *columns))
        wrong = next((other for other in others if other), None)
        if not right or wrong is None:
            return None
        said = vocabulary.encode(right, slots=found.slots)
        step = _first_difference(right, wrong, said.spans)
        ids = np.array([[*found.ids, vocabulary.source.end]])
        memory = encode(translator.weights, config, ids)
        read = np.array([[tag, *said.ids[:step]]])
        observe = Observe(rows=[step])
        _, _, seen = decode(translator.weights, config, read, memory, observe=observe)
        return np.stack([layer.rows[0, :, 0] for layer in seen]), found.spans

    return _judged("cross", rows, places, look, (), done)


def best_unguided(looked: Heads) -> tuple[int, int]:
    """The head that looks most often more at the right noun, guided ones left aside.

    Raises:
        ArgumentError: there is no other head, or the other nouns are not known.
    """
    if looked.more is None:
        raise ArgumentError("looked: its file names no other noun; wanted a column other_en")
    share = looked.more.copy()
    for place in looked.guided:
        share[place] = -1
    layer, head = (int(n) for n in np.unravel_index(share.argmax(), share.shape))
    if share[layer, head] < 0:
        raise ArgumentError("looked: every head was guided")
    return layer, head


def _judged(
    kind: str,
    rows: Sequence[Row],
    places: tuple[int, int],
    look: Callable[[Row, str, Span], tuple[Any, Sequence[Span]] | None],
    guided: tuple[tuple[int, int], ...],
    done: Done,
) -> Heads:
    """Counts, over the rows, where the weights that ``look`` gives (layers, heads, S) lead."""
    with_other = bool(rows) and "other_en" in rows[0]
    more, weight = np.zeros(places), np.zeros(places)
    hits, read = np.zeros((len(rows), *places), bool), np.zeros(len(rows), bool)
    chance = 0.0
    for i, row in enumerate(rows):
        done(1)
        text = " ".join(row["en"].split())
        its = _found(text, "it")
        nouns = [_found(text, row["antecedent_en"])]
        if with_other:
            nouns.append(_found(text, row["other_en"]))
        if not its or not all(nouns) or (len(its) > 1 and not with_other):
            continue
        if (seen := look(row, text, its[-1])) is None:
            continue
        given, spans = seen
        others = [word for word in words(text) if not _overlap(word, its[-1])]
        right = given[..., _overlapping(spans, nouns[0][0])].sum(-1)
        if with_other:
            more += right > given[..., _overlapping(spans, nouns[1][0])].sum(-1)
        weight += right
        between = np.stack([given[..., _overlapping(spans, word)].sum(-1) for word in others])
        is_right = np.array([_overlap(word, nouns[0][0]) for word in others])
        hits[i], read[i] = is_right[between.argmax(0)], True
        chance += float(is_right.mean())
    count = int(read.sum())
    of = max(count, 1)
    return Heads(
        kind, count, len(rows), more / of if with_other else None, hits.sum(0) / of,
        chance / of, weight / of, guided, hits, read,
    )  # fmt: skip


def _found(text: str, word: str) -> list[Span]:
    """Where a word is in a text; letters may be large or small."""
    if not word:
        return []
    pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
    return [found.span() for found in re.finditer(pattern, text, re.IGNORECASE)]


def _overlap(one: Span, other: Span) -> bool:
    return one[1] > other[0] and one[0] < other[1]


def _overlapping(spans: Sequence[Span], word: Span) -> list[int]:
    """The pieces that stand for a part of a word."""
    return [i for i, span in enumerate(spans) if _overlap(span, word)]


def _first_difference(right: str, wrong: str, spans: Sequence[Span]) -> int:
    """Which piece of ``right`` holds the first character in which ``wrong`` is another."""
    pairs = enumerate(zip(right, wrong, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(right), len(wrong)))
    return next((i for i, span in enumerate(spans) if span[1] > at), len(spans))
