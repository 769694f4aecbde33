"""Pronouns by contrast: is the right translation more probable than one with another pronoun?

A sentence is right when the model gives its right translation a higher probability than each
contrastive one (Bawden et al. 2018; Müller et al. 2018, "ContraPro"). Nothing is translated: both
are read, and compared. Equal is not right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from clearhead.training.evaluation.tables import Done, Row, nothing

__all__ = ["Contrast", "contrast", "contrast_columns", "log_probabilities_of"]

_AT_ONCE = 64  # translations scored in one batch


@dataclass(frozen=True)
class Contrast:
    """How many sentences got the higher score with the right pronoun, and how many whole pairs.

    Attributes:
        sentences: that were read.
        right: above each contrast.
        pairs, pairs_right: pairs of sentences with opposite answers; both must be right.
        chance: share of the sentences that are right by chance, 1 / (1 + contrasts), the mean.
        every: right above all contrastive columns, where the file has more than are counted (the
            third pronoun of German); None where it has not.
        by_pronoun: (right, sentences) by the right pronoun, where the file names it.
        answers: whether each sentence is right.
    """

    sentences: int
    right: int
    pairs: int
    pairs_right: int
    chance: float
    every: int | None
    by_pronoun: dict[str, tuple[int, int]]
    answers: tuple[bool, ...]

    def to_dict(self) -> dict[str, Any]:
        """The figures, without the single answers."""
        return {name: value for name, value in vars(self).items() if name != "answers"}


def contrast_columns(columns: Iterable[str], to: str) -> list[str]:
    """The contrastive columns that count: ``fr_contrast``, or ``fr_contrast1``, ``fr_contrast2``…

    Example:
        >>> contrast_columns(["de", "de_contrast", "de_contrast_other"], "de")
        ['de_contrast']
        >>> contrast_columns(["de", "de_contrast1", "de_contrast2"], "de")
        ['de_contrast1', 'de_contrast2']
    """
    names, first = list(columns), f"{to}_contrast"
    if first in names:
        return [first]
    return [name for name in names if name.removeprefix(first).isdecimal()]


def contrast(translator: Any, rows: Sequence[Row], to: str, done: Done = nothing) -> Contrast:
    """Whether the model prefers the right pronoun.

    Args:
        translator: as ``load_translator`` gives it.
        rows: with columns ``en``, the language, and contrastive ones as
            :func:`contrast_columns` finds them, an empty one counting as none. ``pair`` where
            sentences come in pairs of opposite answers; the language + ``_pronoun`` where the
            right pronoun is named; ``en_prev`` and the language + ``_prev`` where a sentence stands
            before, which is then read too.
        to: the language.
        done: called with how many more rows are done.
    """
    names = list(rows[0]) if rows else []
    counted = contrast_columns(names, to)
    others = [n for n in names if n.startswith(f"{to}_contrast") and n not in counted]
    scores = _by_column(translator, rows, to, [to, *counted, *others], done)
    right = [_above(scores, i, to, counted) for i in range(len(rows))]
    every = [_above(scores, i, to, [*counted, *others]) for i in range(len(rows))]
    contrasts = [sum(bool(row[name]) for name in counted) for row in rows]
    pairs: dict[str, list[bool]] = {}
    by_pronoun: dict[str, list[bool]] = {}
    for row, answer in zip(rows, right, strict=True):
        if "pair" in row:
            pairs.setdefault(row["pair"], []).append(answer)
        if f"{to}_pronoun" in row:
            by_pronoun.setdefault(row[f"{to}_pronoun"], []).append(answer)
    return Contrast(
        sentences=len(right),
        right=sum(right),
        pairs=len(pairs),
        pairs_right=sum(all(answers) for answers in pairs.values()),
        chance=sum(1 / (1 + n) for n in contrasts) / max(len(rows), 1),
        every=sum(every) if others else None,
        by_pronoun={name: (sum(x), len(x)) for name, x in sorted(by_pronoun.items())},
        answers=tuple(right),
    )


def log_probabilities_of(
    translator: Any, sources: Sequence[str], targets: Sequence[str], to: str, done: Done = nothing
) -> list[float]:
    """The log-probability of every target, telling ``done`` on the way.

    Short sources come first, and translations of one source side by side: it is then read once.
    """
    order = sorted(
        range(len(targets)), key=lambda i: (len(sources[i]), sources[i], len(targets[i]))
    )
    found = [0.0] * len(targets)
    for at in range(0, len(order), _AT_ONCE):
        chosen = order[at : at + _AT_ONCE]
        texts = [sources[i] for i in chosen], [targets[i] for i in chosen]
        for i, score in zip(chosen, translator.score(*texts, to=to), strict=True):
            found[i] = score
        done(len(chosen))
    return found


def _by_column(
    translator: Any, rows: Sequence[Row], to: str, columns: Sequence[str], done: Done
) -> dict[tuple[str, int], float]:
    """The log-probability of each text that is there, by column and row; all in one go."""
    places = [(name, i) for name in columns for i, row in enumerate(rows) if row[name]]
    sources = [_with_previous(rows[i], "en", "en") for _, i in places]
    targets = [_with_previous(rows[i], name, to) for name, i in places]
    found = log_probabilities_of(translator, sources, targets, to, done)
    return dict(zip(places, found, strict=True))


def _with_previous(row: Row, column: str, language: str) -> str:
    before = row.get(f"{language}_prev", "")
    return f"{before} {row[column]}" if before else row[column]


def _above(scores: dict[tuple[str, int], float], i: int, to: str, columns: Sequence[str]) -> bool:
    good = scores.get((to, i))
    if good is None:
        return False
    return all(good > scores[name, i] for name in columns if (name, i) in scores)
