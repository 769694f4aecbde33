"""What a run says of itself: ``log.jsonl``, a row of means every few steps."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from clearhead.errors import TrainingError

__all__ = ["RunLog"]


class RunLog:
    """``log.jsonl`` in the folder of a run.

    A row holds the step, the epoch, means of loss, guide and norm since the row before, the rate,
    tokens per second and the seconds trained. After a resume, rows of steps that were lost with
    the interruption are taken out first, so each step is told once.

    Args:
        folder: of the run.
        step: where the run stands.
        every: steps a row.

    Raises:
        TrainingError: the file cannot be written.

    Example:
        >>> log = RunLog(Path("."), step=0, every=1)
        >>> row = log.add(
        ...     {
        ...         "step": 1,
        ...         "epoch": 0,
        ...         "loss": 2.0,
        ...         "guide": float("nan"),
        ...         "norm": 1.0,
        ...         "rate": 0.1,
        ...         "tokens": 10,
        ...         "tokens_per_second": 5.0,
        ...     },
        ...     seconds=2.0,
        ... )
        >>> print(Path("log.jsonl").read_text().strip())
        {"step": 1, "epoch": 0, "loss": 2.0, "guide": null, "norm": 1.0, "rate": 0.1, "tps": 5.0, "seconds": 2.0}
    """  # noqa: E501

    def __init__(self, folder: Path, step: int, every: int = 50) -> None:
        self._path, self._every = folder / "log.jsonl", every
        self._rows: list[dict[str, float]] = []
        try:
            if self._path.exists():
                kept = [line for line in self._lines() if _step_of(line) <= step]
                beside = self._path.with_suffix(".part")
                beside.write_text("".join(kept), encoding="utf-8")
                beside.replace(self._path)
        except OSError as error:
            raise self._refused(error) from error

    def add(self, found: dict[str, float], seconds: float) -> dict[str, Any] | None:
        """Takes what a step reported; writes and returns a row when one is full.

        Args:
            found: as :meth:`clearhead.training.train.Trainer.one_step` returns it.
            seconds: trained so far.
        """
        self._rows.append(found)
        return None if found["step"] % self._every else self.flush(seconds)

    def flush(self, seconds: float) -> dict[str, Any] | None:
        """Writes and returns a row of the steps since the last one, if there were any."""
        rows, self._rows = self._rows, []
        if not rows:
            return None
        found = rows[-1]
        took = sum(row["tokens"] / row["tokens_per_second"] for row in rows)
        means = {name: _mean([row[name] for row in rows]) for name in ("loss", "guide", "norm")}
        row = {
            "step": found["step"], "epoch": found["epoch"], **means, "rate": found["rate"],
            "tps": sum(row["tokens"] for row in rows) / took, "seconds": seconds,
        }  # fmt: skip
        self.write(row)
        return row

    def write(self, row: dict[str, Any]) -> None:
        """Adds one row."""
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        except OSError as error:
            raise self._refused(error) from error

    def rows(self) -> list[dict[str, Any]]:
        """All rows written so far.

        Raises:
            TrainingError: the file cannot be read.
        """
        try:
            return [json.loads(line) for line in self._lines()] if self._path.exists() else []
        except (OSError, ValueError) as error:
            raise TrainingError(f"{self._path} cannot be read: {error}") from error

    def _lines(self) -> list[str]:
        return self._path.read_text(encoding="utf-8").splitlines(keepends=True)

    def _refused(self, error: OSError) -> TrainingError:
        return TrainingError(
            f"{self._path} cannot be written ({error}); the last checkpoint is whole: free some "
            "space or mend the permission, then start the same command again"
        )


def _mean(values: list[float]) -> float | None:
    """The mean of those that are numbers; steps without a marked sentence have no guide loss."""
    numbers = [value for value in values if not math.isnan(value)]
    return sum(numbers) / len(numbers) if numbers else None


def _step_of(line: str) -> float:
    """The step of a row; a row that was cut off by a full disk belongs to none."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return math.inf
