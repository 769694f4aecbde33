"""What a search is told, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field

from clearhead.errors import ArgumentError
from clearhead.model.numbers import Digits

__all__ = ["WIDEST", "Hypothesis", "Pieces", "Search"]

WIDEST = 64
"""Hypotheses of a sentence at most: a wider search takes long and finds worse translations."""


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
        blank: pieces that are white space alone; nothing ends before any other was written, and
            no two follow each other.
        digits: pieces that are digits: where the source has numbers, only these are written.
    """

    end: int
    pad: int
    special: int
    slots: tuple[int, ...] = ()
    blank: frozenset[int] = frozenset()
    digits: Digits = field(default_factory=Digits)


@dataclass(frozen=True)
class Search:
    """How to search.

    Attributes:
        beam: K, how many hypotheses go on, at most 64; 1 is greedy.
        nbest: how many to return, at most 64; more than ``beam`` widens the beam.
        alpha: α of the length normalisation; 0 is none, which prefers short text. 1.4 was the best
            of 0.6 to 1.6 on ``tatoeba-own-dev``, French and German together.
        shortest: pieces before the end may be chosen.
        longest: pieces at most; None is half as many again as the source has, and sixteen.
        batch: sentences at once; None is as many as make some 256 hypotheses.

    Raises:
        ArgumentError: a number that cannot be meant.
    """

    beam: int = 4
    nbest: int = 1
    alpha: float = 1.4
    shortest: int = 1
    longest: int | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        for name, least, most in (
            ("beam", 1, WIDEST),
            ("nbest", 1, WIDEST),
            ("shortest", 0, None),
            ("longest", 1, None),
            ("batch", 1, None),
        ):
            found = getattr(self, name)
            if found is None and name in ("longest", "batch"):
                continue
            whole = isinstance(found, int) and not isinstance(found, bool)
            if not whole or found < least or (most is not None and found > most):
                wanted = f"of {least} or more" if most is None else f"from {least} to {most}"
                raise ArgumentError(f"{name}: found {found!r}; wanted a whole number {wanted}")
        if not 0 <= self.alpha <= 10:
            raise ArgumentError(f"alpha: found {self.alpha!r}; wanted a number from 0 to 10")

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
        return self.longest or source + source // 2 + 16
