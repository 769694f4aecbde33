"""How far a training run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

__all__ = ["Bar"]


class Bar:
    """A bar with loss, tokens per second and time left; off a terminal a line every minute."""

    def __init__(self, steps: int, done: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._console = Console(stderr=True)
        self._steps, self._told = steps, time.monotonic()
        self._seconds, self._loss, self._speed = 0.0, 0.0, 0.0
        self._bar = Progress(
            MofNCompleteColumn(), BarColumn(bar_width=None), TextColumn("{task.description}"),
            console=self._console, disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=steps, completed=done)

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._bar.stop()

    def step(self, found: dict[str, float]) -> None:
        """Shows one step; the figures are running means."""
        speed = found["tokens_per_second"]
        new = 1.0 if not self._seconds else 0.05
        self._seconds += new * (found["tokens"] / speed - self._seconds)
        self._loss += new * (found["loss"] - self._loss)
        self._speed += new * (speed - self._speed)
        left = _duration((self._steps - found["step"]) * self._seconds)
        text = f"loss {self._loss:.3f}  {self._speed:,.0f} tokens/s  {left} left"
        if self._console.is_terminal:
            self._bar.update(self._task, completed=int(found["step"]), description=text)
        elif time.monotonic() - self._told > 60 or found["step"] == self._steps:
            self._told = time.monotonic()
            self.say(f"step {found['step']:,} of {self._steps:,}  {text}")

    def say(self, line: str) -> None:
        """Prints a line above the bar."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
