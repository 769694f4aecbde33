"""What could stand in the place of a word of a translation, and where each would lead."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from itertools import islice

from clearhead.errors import ArgumentError, KindError
from clearhead.model.hypotheses import Search
from clearhead.model.next_words import NextWord, next_words
from clearhead.model.part_search import find_candidates
from clearhead.model.rules import Prefix
from clearhead.model.scoring import log_probabilities
from clearhead.model.text_model import TextModel, spaced
from clearhead.model.words import JOINERS, is_mark, words

__all__ = ["Alternative", "find_alternatives"]


@dataclass(frozen=True)
class Alternative:
    """Another word at a place of a translation.

    Attributes:
        word: the word; empty where the translation would end before this place.
        probability: of the word, given the source and the words before it.
        translation: the best translation with the same words before it, and this word.
        log_probability: of that translation, as of a candidate.
        finished: whether it reached its end.
    """

    word: str
    probability: float
    translation: str
    log_probability: float
    finished: bool


def find_alternatives(
    model: TextModel, source: str, translation: str, word: int, to: str, count: int, how: Search
) -> list[Alternative]:
    """The likeliest other words at a place, best first; see ``Translator.alternatives``."""
    language = model.language(to)
    encoded, _ = model.checked_pair(source, translation)
    source, translation = spaced(source), spaced(translation)
    spans = words(translation)
    start, end = spans[_index(word, len(spans))]
    prefix = model.target(translation[:start], encoded)
    likely = next_words(model, source, encoded, prefix, language, how)
    others = (each for each in likely if each.word != translation[start:end])
    found = list(islice(others, count))
    going_on = [each for each in found if each.word]
    candidates = find_candidates(
        model, [source] * len(going_on), [encoded] * len(going_on), language,
        replace(how, n_best=1), prefixes=[_prefix(model, prefix, each) for each in going_on],
    )  # fmt: skip
    led = {
        each.word: (best.text, best.log_probability, best.finished)
        for each, (best, *_) in zip(going_on, candidates, strict=True)
    }
    if len(led) < len(found):
        ended = [language, *prefix, model.vocabulary.end]
        row, pad = model.row(encoded), model.vocabulary.pad
        read = log_probabilities(model.weights, model.config, [row], [ended], pad)
        led[""] = (translation[:start].rstrip(), sum(read[0]), True)
    return [Alternative(each.word, each.probability, *led[each.word]) for each in found]


def _prefix(model: TextModel, before: list[int], next_word: NextWord) -> Prefix:
    """A beginning that ends in this very word."""
    free = is_mark(next_word.word[0]) and next_word.word not in JOINERS
    return Prefix((*before, *next_word.ids), None if free else model.carrying_on)


def _index(word: int, count: int) -> int:
    try:
        word = operator.index(word)
    except TypeError:
        found = type(word).__name__
        raise KindError(f"word: found {found}; wanted its index, a whole number") from None
    if not -count <= word < count:
        wanted = f"an index from 0 to {count - 1}" if count else "a translation that has words"
        raise ArgumentError(f"word: found {word}; wanted {wanted}")
    return word % count
