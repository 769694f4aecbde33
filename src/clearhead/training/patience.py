"""Early stopping: a run ends when its scores on the development set grow no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Patience", "mean_bleu"]

_BEGUN = 1.0  # BLEU


class Patience:
    """The best score so far, and how many checkpoints have not bettered it since.

    It does not wait before the score is at 1: a model that does not translate yet has no best.

    Args:
        most: checkpoints in a row without a better score after which to end; 0 never ends.
        rows: those of ``log.jsonl``, so that a run that goes on knows what came before.

    Attributes:
        best: the best mean BLEU, or None.
        step: at which step it was.
        waited: checkpoints since.

    Example:
        >>> patience = Patience(2)
        >>> [patience.better(step, {"fr": {"bleu": bleu}}) for step, bleu in enumerate((5, 9, 8))]
        [True, True, False]
        >>> patience.better(3, {"fr": {"bleu": 7.0}}), patience.spent, patience.step
        (False, True, 1)
    """

    def __init__(self, most: int, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self._most = most
        self.best: float | None = None
        self.step, self.waited = 0, 0
        for row in rows:
            if "dev" in row:
                self.better(row["step"], row["dev"])

    def better(self, step: int, scores: Mapping[str, Any]) -> bool:
        """Takes the scores of a checkpoint; whether they are the best."""
        found = mean_bleu(scores)
        if self.best is None or found > self.best:
            self.best, self.step, self.waited = found, step, 0
            return True
        self.waited += self.best >= _BEGUN
        return False

    @property
    def spent(self) -> bool:
        """Whether it is time to end."""
        return 0 < self._most <= self.waited


def mean_bleu(scores: Mapping[str, Any]) -> float:
    """The mean over the languages, which is what "better" goes by."""
    return float(sum(each["bleu"] for each in scores.values()) / len(scores))
