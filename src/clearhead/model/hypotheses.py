"""What a search is told, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field

from clearhead.errors import ArgumentError
from clearhead.model.numbers import Digits

__all__ = ["LONGEST_LEAST", "WIDEST", "Hypothesis", "Pieces", "Search"]

WIDEST = 64
"""Hypotheses of a sentence at most: a wider search takes long and finds worse translations."""

LONGEST_LEAST = 1024
"""The greatest least length: twice what the longest source has, in pieces."""


@dataclass(frozen=True)
class Hypothesis:
    """A translation in pieces, and how probable the model finds it.

    Attributes:
        ids: the pieces, without language tag and end.
        log_probability: natural logarithm, summed over the pieces and, if it ended, the end.
        score: ``log_probability`` / length^length_penalty, by which hypotheses are compared.
        finished: whether it chose to end; False where the greatest length cut it off.
        lost: slots of the source that it does not carry over.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float
    finished: bool = True
    lost: int = 0

    def rank(self) -> tuple[bool, int, float]:
        """What sorts hypotheses, best first: ended ones, those that carry all, the likeliest."""
        return not self.finished, self.lost, -self.score


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
    """How to search. Lengths are in pieces, the end not counted.

    Attributes:
        beam: K, how many hypotheses go on, at most 64; 1 is greedy.
        n_best: how many to return, at most 64; more than ``beam`` widens the beam.
        length_penalty: α: hypotheses are compared by log-probability / length^α, the end counted
            in both (Wu et al. 2016, section 7, without the 5); 0 compares log-probabilities, which
            prefers short text. 1.4 was the best of 0.6 to 1.6 on ``tatoeba-own-dev``, French and
            German together.
        min_length: pieces before the end may be chosen, at most 1024.
        max_length: pieces at most; None is half as many again as the source has, and sixteen.
        no_repeat: so many pieces in a row stand nowhere twice; 0 lets anything repeat. A number of
            the source is written to its end all the same.
        batch: sentences at once; None is as many as make some 256 hypotheses.
        workers: batches at the same time, each in a thread of its own, which pays where NumPy's
            BLAS library multiplies on one thread (OPENBLAS_NUM_THREADS=1).

    Raises:
        ArgumentError: a number that cannot be meant, or a least length above the greatest.

    Example:
        >>> Search(beam=2, n_best=5).width, Search().limit(10)
        (5, 31)
    """

    beam: int = 4
    n_best: int = 1
    length_penalty: float = 1.4
    min_length: int = 1
    max_length: int | None = None
    no_repeat: int = 0
    batch: int | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        for name, least, most in (
            ("beam", 1, WIDEST),
            ("n_best", 1, WIDEST),
            ("min_length", 0, LONGEST_LEAST),
            ("max_length", 1, 2**31),
            ("no_repeat", 0, None),
            ("batch", 1, None),
            ("workers", 1, None),
        ):
            found = getattr(self, name)
            if found is None and name in ("max_length", "batch"):
                continue
            whole = isinstance(found, int) and not isinstance(found, bool)
            if not whole or found < least or (most is not None and found > most):
                wanted = f"of {least} or more" if most is None else f"from {least} to {most}"
                raise ArgumentError(f"{name}: found {found!r}; wanted a whole number {wanted}")
        real = isinstance(self.length_penalty, int | float)
        if not real or not 0 <= self.length_penalty <= 10:
            raise ArgumentError(
                f"length_penalty: found {self.length_penalty!r}; wanted a number from 0 to 10"
            )
        if self.max_length is not None and self.min_length > self.max_length:
            raise ArgumentError(
                f"min_length: found {self.min_length}; wanted at most max_length, {self.max_length}"
            )

    @property
    def width(self) -> int:
        """Hypotheses that go on: enough for what is to be returned."""
        return max(self.beam, self.n_best)

    @property
    def at_once(self) -> int:
        """Sentences in a batch."""
        return self.batch or max(1, 256 // self.width)

    def in_batch(self, sentences: int) -> int:
        """Sentences in a batch where there are so many in all: some batches for every worker."""
        if self.batch is not None or self.workers == 1:
            return self.at_once
        return min(self.at_once, max(8, -(-sentences // (3 * self.workers))))

    def limit(self, source: int, fixed: int = 0) -> int:
        """Most pieces of the translation of ``source`` pieces whose first ``fixed`` are given."""
        if self.max_length is not None:
            return max(self.max_length, fixed)
        return max(source + source // 2, fixed, self.min_length) + 16

    def normalised(self, log_probability: float, length: int) -> float:
        """The score of a hypothesis of ``length`` pieces, the end counted where it was reached."""
        power: float = max(1, length) ** self.length_penalty
        return log_probability / power
