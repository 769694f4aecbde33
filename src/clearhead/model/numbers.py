"""Numbers of the source, kept: a translation writes no number that the source does not have.

Digits are pieces of their own, so a small model may well write 40 for 49. Where the source has
numbers in digits, a search may only write these: digit by digit, each to its end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Digits", "numbers_in"]

_NUMBER = re.compile(r"[0-9]+(?:[.,'’\u00a0\u202f][0-9]+)*")


def numbers_in(text: str) -> frozenset[str]:
    """The numbers that a translation of ``text`` may write, in digits alone.

    Grouped digits count apart and joined, since languages group and point them differently; of a
    decade the last two digits count too.

    Example:
        >>> sorted(numbers_in("In the 1980s 3,500 of 49 men left."))
        ['1980', '3', '3500', '49', '500', '80']
    """
    found: set[str] = set()
    for match in _NUMBER.finditer(text):
        groups = re.findall("[0-9]+", match[0])
        found.update(groups)
        found.add("".join(groups))
        if len(match[0]) == 4 and text[match.end() : match.end() + 1] == "s":
            found.add(match[0][2:])
    return frozenset(found)


@dataclass(frozen=True)
class Digits:
    """Which pieces are digits.

    Attributes:
        plain: the digit of every piece that is one.
        spaced: the digit of every piece that is a space and one.

    Example:
        >>> digits = Digits(plain={4: "4", 9: "9", 5: "0"}, spaced={})
        >>> scores = np.zeros(10, np.float32)
        >>> digits.restrict(scores, [7, 4], frozenset(["49"]))
        >>> np.flatnonzero(scores == 0).tolist()
        [9]
    """

    plain: Mapping[int, str] = field(default_factory=dict)
    spaced: Mapping[int, str] = field(default_factory=dict)

    def restrict(self, scores: Any, written: Sequence[int], numbers: frozenset[str]) -> None:
        """Gives −inf to the next pieces that would make another number.

        Args:
            scores: (V,) of the next piece; it is changed.
            written: the pieces so far.
            numbers: those that may be written; none at all leaves every piece as it is.
        """
        if not numbers:
            return
        run = self._run(written)
        going_on = {n[len(run)] for n in numbers if n.startswith(run) and len(n) > len(run)}
        if run and run not in numbers:
            kept = [piece for piece, digit in self.plain.items() if digit in going_on]
            held = scores[kept]
            scores[:] = -np.inf
            scores[kept] = held
            return
        scores[[piece for piece, digit in self.plain.items() if digit not in going_on]] = -np.inf
        starts = {number[0] for number in numbers}
        scores[[piece for piece, digit in self.spaced.items() if digit not in starts]] = -np.inf

    def within(self, written: Sequence[int], numbers: frozenset[str]) -> bool:
        """Whether a number has begun that must go on, as it is none of those yet."""
        run = self._run(written) if numbers else ""
        return bool(run) and run not in numbers

    def _run(self, written: Sequence[int]) -> str:
        """The digits that the pieces end in, back to a space."""
        run = ""
        for piece in reversed(written):
            if piece in self.plain:
                run = self.plain[piece] + run
                continue
            return self.spaced.get(piece, "") + run
        return run
