"""Signals during a run: one asks it to end after its step, one tells that it was paused."""

from __future__ import annotations

import signal
from types import TracebackType
from typing import Any

__all__ = ["Interrupts"]


class Interrupts:
    """Takes Ctrl-C, SIGTERM and SIGCONT while it is entered; what handled them before does after.

    Attributes:
        stop: whether the run was asked to end; it stays so.
        paused: whether the process was stopped and went on; whoever reads it sets it back.

    Example:
        >>> with Interrupts() as interrupts:
        ...     interrupts.ask(2)
        >>> interrupts.stop
        True
    """

    def __init__(self) -> None:
        self.stop, self.paused = False, False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self.ask)
        if hasattr(signal, "SIGCONT"):  # not on Windows
            self._before[signal.SIGCONT] = signal.signal(signal.SIGCONT, self.note_pause)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def ask(self, number: int, frame: Any = None) -> None:
        """Asks the run to end, as a signal does."""
        self.stop = True

    def note_pause(self, number: int, frame: Any = None) -> None:
        """Notes that the clock ran on while the process was stopped."""
        self.paused = True
