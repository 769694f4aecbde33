"""What a cell is held to: for each kind a ratio that is the floor, and one beyond it.

A goal's ``of`` says which number it is about:

    torch      torch's default call / ours              at least
    viewed     torch with the group as queries / ours   at least
    looking    ours with top-8, entropy, lse / ours     at most
    seeing     torch's plain call / ours looking        at least
    share      physical limit / ours                    at least
    others     the fastest of every other peer / ours   at least
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Goal", "goals_of"]


@dataclass(frozen=True)
class Goal:
    """A number, its floor and what lies beyond, if anything; ``at_most``: smaller is better."""

    of: str
    floor: float
    beyond: float = math.inf
    at_most: bool = False

    def verdict(self, value: float) -> str:
        """Whether the value is a "miss", reaches the "floor", or goes "beyond".

        >>> Goal("torch", 1.4, 2.0).verdict(1.7), Goal("looking", 1.2, 1.05, True).verdict(1.3)
        ('floor', 'miss')
        """
        sign = -1 if self.at_most else 1
        if sign * value >= sign * self.beyond:
            return "beyond"
        return "floor" if sign * value >= sign * self.floor else "miss"


# The ratio to torch's default call: (floor, beyond), float32 and bfloat16, by the row of the table.
TORCH = {
    "short": ((1.4, 2.0), (1.8, 3.0)),
    "short, causal": ((2.1, 3.0), (1.8, 4.0)),
    "N = 512, causal": ((2.1, 3.0), (2.8, 4.0)),
    "tiny": ((1.4, 2.0), (3.0, 4.0)),
    "tiny, causal": ((1.5, 2.0), (3.0, 4.0)),
    "long": ((1.3, 2.0), (1.8, 3.0)),
    "long, causal": ((1.4, 2.2), (1.8, 3.3)),
    "wide": ((1.15, 2.0), (1.8, 2.5)),
    "wide, causal": ((1.35, 2.0), (1.8, 2.5)),
    "off the tile": ((1.1, 1.6), (1.2, 2.0)),
    "padded": ((2.0, 3.0), (2.5, 4.0)),
    "packed": ((3.0, 5.0), (3.0, 6.0)),
    "window": ((15.0, 30.0), (20.0, 40.0)),
    "bias": ((1.4, 2.0), (1.5, 2.5)),
    "decoding": ((3.0, 4.0), (3.0, math.inf)),
    "one call": ((1 / 1.5, math.inf), (1 / 1.5, math.inf)),
}
VIEWED = {"float32": (1.4, 2.0), "bfloat16": (1.4, math.inf), "float16": (1.2, math.inf)}
FLOAT16 = 1.2  # in every row but that of the small call
READ_SHARE = 0.8
SHARE = {"float32": (0.64, 0.85), "bfloat16": (0.40, 0.70)}


def goals_of(row: str, kind: str, keys: int, looked: bool, share: bool) -> tuple[Goal, ...]:
    """The goals of a cell in that row of ``TORCH``, for one kind.

    ``looked``: it is timed looking as well. ``share``: it is held to the physical limit.
    """
    float32, bfloat16 = TORCH[row]
    if kind == "float16" and row != "one call":
        found = [Goal("torch", FLOAT16)]
    else:
        found = [Goal("torch", *(float32 if kind == "float32" else bfloat16))]
    if row == "decoding":
        found.append(Goal("viewed", *VIEWED[kind]))
    if row == "decoding" and kind == "bfloat16":
        found.append(Goal("share", READ_SHARE))
    if looked and kind == "float32":
        floor = 1.4 if keys <= 32 else 1.35 if keys <= 512 else 1.2
        found.append(Goal("looking", floor, 1.15 if keys <= 512 else 1.05, at_most=True))
    if looked and kind == "bfloat16" and keys >= 512:
        found.append(Goal("seeing", 1.0, 2.0))
    if share and kind in SHARE:
        found.append(Goal("share", *SHARE[kind]))
    return (*found, Goal("others", 1.0))
