"""Threads while a model runs: they belong to the matrix products, or to whole batches.

Attention is a few hundredths of a translation, and its OpenMP team goes on spinning for
milliseconds after a call, on the very cores that the BLAS library's own threads then wait for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

from clearhead.core.machine import machine, set_threads

__all__ = ["attention_on_one_thread", "side_by_side"]

Job = TypeVar("Job")
Result = TypeVar("Result")

_lock = threading.Lock()
_users = 0
_before = 1


@contextmanager
def attention_on_one_thread() -> Iterator[None]:
    """Within it, in the whole process, attention runs on one thread; it may be nested.

    Results do not depend on it, bit for bit.

    Example:
        >>> before = machine().threads
        >>> with attention_on_one_thread():
        ...     machine().threads
        1
        >>> machine().threads == before
        True
    """
    global _users, _before
    with _lock:
        if _users == 0:
            _before = machine().threads
            set_threads(1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                set_threads(_before)


def side_by_side(
    run: Callable[[Job], Result], jobs: Iterable[Job], workers: int
) -> Iterator[Result]:
    """The results of ``run`` of every job, as they come, from as many threads as there are workers.

    Products and attention run outside of Python's lock, so that threads work at the same time. On
    an error, and on Ctrl-C, what runs is let finish and nothing more begins.

    Args:
        run: may be called by several threads at once.
        jobs: the first ones begin first.
        workers: 1 runs one after the other, in their order, without any thread.

    Example:
        >>> sorted(side_by_side(lambda n: n * n, [3, 1, 2], workers=2))
        [1, 4, 9]
    """
    if workers == 1:
        yield from map(run, jobs)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        for finished in as_completed([pool.submit(run, job) for job in jobs]):
            yield finished.result()
    finally:
        pool.shutdown(cancel_futures=True)
