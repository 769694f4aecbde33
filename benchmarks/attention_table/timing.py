"""Times of several calls in one process, taken in turn, so that all meet the same machine."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Clock", "Timed", "interleaved", "summary", "timed_once"]

Call = Callable[[], Any]
Clock = Callable[[], float]

WARM = 2e-3  # seconds of calls before a block is timed: threads awake, its data in cache
BLOCK = 12e-3  # seconds of timed calls in a block, one at least
LONG = 0.1  # a call this long needs none before it to be warm
FEW = 3  # samples at the least, of whoever is slow


@dataclass
class Timed:
    """A call and its times so far, in seconds.

    ``expected`` is what a call takes, about; ``leading`` calls take part in every round, the
    others only until they have had their share of the time.
    """

    call: Call
    expected: float
    leading: bool = False
    times: list[float] = field(default_factory=list)
    spent: float = 0.0

    def block(self, clock: Clock) -> None:
        """One untimed call at least, if it is short, then some that are timed one by one."""
        start = clock()
        if self.expected < LONG:
            self.call()
            while clock() - start < WARM:
                self.call()
        block_start = clock()
        while True:
            before = clock()
            self.call()
            after = clock()
            self.times.append(after - before)
            if after - block_start >= BLOCK:
                break
        self.spent += after - start


def timed_once(call: Call, clock: Clock = time.perf_counter) -> tuple[Any, float]:
    """What the call returns, and how long it took."""
    start = clock()
    found = call()
    return found, clock() - start


def interleaved(
    calls: list[Timed],
    seconds: float,
    rounds: int,
    order: random.Random,
    clock: Clock = time.perf_counter,
) -> None:
    """Rounds of a block of each call, in a new order each time, until the time is up.

    There are ``rounds`` at least, in which all leading calls take part. The others come in as their
    share of the time grows, so that what disturbs the machine meets them too; each gets some
    samples, or one where three would take longer than the whole time.
    """
    start, done = clock(), 0
    share = 1 / max(1, len(calls))
    while done < rounds or clock() - start < seconds:
        for one in order.sample(calls, len(calls)):
            wanted = FEW if one.expected * FEW < seconds else 1
            due = one.spent <= share * min(seconds, clock() - start)
            if one.leading or due or len(one.times) < wanted:
                one.block(clock)
        done += 1


def summary(times: list[float]) -> dict[str, float | int]:
    """Median, minimum and quartiles in seconds, and how many there were.

    >>> summary([3.0, 1.0, 2.0])["median"]
    2.0
    """
    enough = times if len(times) > 1 else times * 2
    low, _, high = statistics.quantiles(enough, n=4, method="inclusive")
    return {
        "median": statistics.median(times),
        "min": min(times),
        "low": low,
        "high": high,
        "samples": len(times),
    }
