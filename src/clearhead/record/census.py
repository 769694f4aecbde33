"""A census of heads: what each mostly does, and which of its links are telling.

Nothing is known beforehand of any head. A link is telling when it is strong and no habit: not what
the head does at that distance anyway (many heads look at the word before), and not a word that it
looks at from everywhere (many look at the full stop).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.errors import ArgumentError
from clearhead.record.choice import Choice
from clearhead.record.seen import Seen
from clearhead.record.sight import Sight

__all__ = ["GUIDED_WORD", "Head", "census", "telling", "telling_links"]

HABITS = ("the previous word", "the next word", "itself", "special pieces")
GUIDED_WORD = "it"
"""The word whose antecedent training marks where it guides a head."""

_MOSTLY = 0.4  # share from which a head is said to do one thing mostly


@dataclass(frozen=True)
class Head:
    """What one head does in one sentence.

    Attributes:
        layer, head: from 0.
        shares: of its weight, the mean over the words, by where it goes: "the previous word",
            "the next word", "itself", "special pieces", "other words".
        telling: how telling its links are, from 0 to 1, the mean over the words.
    """

    layer: int
    head: int
    shares: dict[str, float]
    telling: float

    @property
    def mostly(self) -> str:
        """Where most of its weight goes; "other words" where no place has two fifths of it."""
        place = max(self.shares, key=lambda name: self.shares[name])
        return place if self.shares[place] >= _MOSTLY else "other words"


def census(record: Seen) -> list[Head]:
    """Every head of the encoder, the most telling first.

    Example:
        >>> import clearhead as ch
        >>> heads = census(ch.look("The cat sat on the mat because it was tired."))
        >>> len(heads), round(sum(heads[0].shares.values()), 3)
        (24, 1.0)
    """
    sight = record.encoder
    w, told = sight.weights, telling(sight)
    words = max(len(sight.queries), 1)
    found = []
    for layer in range(w.shape[0]):
        for head in range(w.shape[1]):
            each = w[layer, head]
            masses = [np.trace(each, k) / words for k in (-1, 1, 0)]
            masses.append(sight.special[layer, head].mean() if len(sight.queries) else 0.0)
            rest = 1 - sum(masses)
            shares = dict(zip((*HABITS, "other words"), [*masses, rest], strict=True))
            best = told[layer, head].max(-1, initial=0).mean() if len(sight.queries) else 0.0
            found.append(Head(layer, head, {n: float(s) for n, s in shares.items()}, float(best)))
    return sorted(found, key=lambda head: -head.telling)


def telling(sight: Sight) -> Any:
    """How telling each link is, (layers, heads, words, words), from 0 to 1; 0 beside itself.

    weight · (1 − habit), where habit is the larger of two means over the *other* words of the
    sentence: of the weight that the head gives at the same distance, and of what it gives to the
    same word. Both are pulled towards 0 where there is little to go by: the sum is divided by one
    more than the number of words.
    """
    found = np.zeros_like(sight.weights)
    if found.size:
        for layer, between in enumerate(sight.weights):  # one at a time: they can be large
            found[layer] = between * (1 - _habit(between, sight.kind == "encoder"))
    if sight.kind == "encoder":
        own = np.arange(len(sight.queries))
        found[..., own, own] = 0
    return found


def _habit(w: Any, within: bool) -> Any:
    """How much of each weight (heads, words, words) is habit; distances count within a sentence."""
    looking, looked = w.shape[-2:]
    habit = (w.sum(-2, keepdims=True) - w) / looking
    if not within:
        return habit
    distance = np.arange(looked) - np.arange(looking)[:, None] + looking - 1  # from 0
    there = np.zeros((len(w), looking + looked - 1), w.dtype)
    for i in range(looking):
        there[:, distance[i]] += w[:, i]
    count = np.bincount(distance.ravel()).astype(w.dtype)
    return np.maximum(habit, (there[:, distance] - w) / count[distance])


def telling_links(
    record: Seen, choice: Choice | None = None, *, cross: bool = False
) -> list[dict[str, Any]]:
    """The links of a record, the most telling first.

    A head that training guided comes before all others for the word it was guided on: that link was
    asked for, so it is neither chance nor habit.

    Args:
        record: what :func:`clearhead.look` returned.
        choice: of which words, layer and head; None is all.
        cross: the links of the translation's words to the sentence, instead of those within it.

    Returns:
        dictionaries as of :meth:`Record.links`, with "telling" and "guided" beside "weight".
    """
    sight = record.cross if cross else record.encoder
    if sight is None:
        raise ArgumentError("cross: this record has none; look again with cross=True")
    told = telling(sight)
    found = (choice or Choice()).links(sight)
    for link in found:
        place = link["layer"], link["head"]
        link["telling"] = round(float(told[(*place, link["from_index"], link["to_index"])]), 6)
        link["guided"] = (
            not cross and place in record.guided and link["from"].lower() == GUIDED_WORD
        )
    return sorted(found, key=lambda link: (not link["guided"], -link["telling"]))
