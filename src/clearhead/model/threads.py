"""Threads while a model runs: they belong to the matrix products.

Attention is a few hundredths of a translation, and its OpenMP team goes on spinning for
milliseconds after a call, on the very cores that the BLAS library's own threads then wait for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from clearhead.core.machine import machine, set_threads

__all__ = ["attention_on_one_thread"]

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
