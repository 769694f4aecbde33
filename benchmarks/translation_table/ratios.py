"""What is made of the times: batches, medians, ratios, and the bars they are held against."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["BARS", "batches", "ratio", "row", "table"]

BARS = {("generate", 1): 3.0, ("generate", 32): 1.5, ("ctranslate2", 32): 0.6}
"""By how much ours is to be faster, greedy, by peer and batch."""


def batches(sources: Sequence[Sequence[int]], lengths: Sequence[int], size: int) -> list[list[int]]:
    """Sentence numbers in batches of ``size``, those with equally long translations together.

    The real lengths are not known before translating: this wastes least, in favour of the peer.

    >>> batches([[1], [1, 1], [1]], [5, 2, 4], 2)
    [[1, 2], [0]]
    """
    order = sorted(range(len(sources)), key=lambda i: (lengths[i], len(sources[i])))
    return [order[at : at + size] for at in range(0, len(order), size)]


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """How many times longer the peer took, median by median.

    >>> ratio([1.0, 2.0, 9.0], [3.0, 4.0, 5.0])
    2.0
    """
    return statistics.median(theirs) / statistics.median(ours)


def row(
    peer: str, beam: int, batch: int | str, sentences: int, ours: Sequence[float],
    theirs: Sequence[float], **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """One line of the table.

    Args:
        peer, batch: who, and how many sentences at once; "best" is each one's best.
        beam: 1 is greedy.
        sentences: how many were translated in each round.
        ours, theirs: seconds of every round.
        more: to be kept with it.
    """
    return {
        "peer": peer,
        "beam": beam,
        "batch": batch,
        "rounds": len(ours),
        "ours_per_second": sentences / statistics.median(ours),
        "peer_per_second": sentences / statistics.median(theirs),
        "ratio": ratio(ours, theirs),
        "bar": BARS.get((peer, batch)) if beam == 1 and isinstance(batch, int) else None,
        **more,
    }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as Markdown.

    >>> found = row("generate", 1, 32, 64, [1.0], [2.0])
    >>> print(table([found]).splitlines()[-1])
    | greedy | generate, batch 32 | 64 | 32 | **2.00 x** | 1.5 x |
    """
    lines = [
        "| search | beside | ours, sentences a second | peer | ratio | at least |",
        "|---|---|---|---|---|---|",
    ]
    for found in rows:
        search = "greedy" if found["beam"] == 1 else f"beam {found['beam']}"
        of = f"batch {found['batch']}" if found["batch"] != "best" else "each its best batch"
        bar = "" if found["bar"] is None else f"{found['bar']:g} x"
        lines.append(
            f"| {search} | {found['peer']}, {of} | {found['ours_per_second']:.0f} "
            f"| {found['peer_per_second']:.0f} | **{found['ratio']:.2f} x** | {bar} |"
        )
    return "\n".join(lines)
