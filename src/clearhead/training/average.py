"""A running mean of the weights: it translates better than the weights of any one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

__all__ = ["RunningAverage"]


class RunningAverage:
    """The plain mean of the first ``over`` steps' weights, then an exponential one.

    From step ``over`` on, each step's weights enter with the share 1 / ``over`` (Polyak and
    Juditsky 1992; exponential as in Szegedy et al. 2016). It takes the place of a mean over the
    last checkpoints, which are taken by the clock, and go on with other numbers after a pause.

    Args:
        parameters: the weights by name, as they are trained.
        over: steps.

    Example:
        >>> weight = torch.zeros(1)
        >>> average = RunningAverage({"w": weight}, over=2)
        >>> for value in (1.0, 3.0, 5.0):
        ...     _ = weight.fill_(value)
        ...     average.add()
        >>> average.weights["w"]
        tensor([3.5000])
    """

    def __init__(self, parameters: Mapping[str, Any], over: int) -> None:
        self._parameters, self._over, self._count = parameters, over, 0
        self.weights = {name: p.detach().clone() for name, p in parameters.items()}

    @torch.no_grad()
    def add(self) -> None:
        """Takes in the weights as they are now."""
        self._count = min(self._count + 1, self._over)
        for name, p in self._parameters.items():
            self.weights[name].lerp_(p.detach(), 1 / self._count)

    def state(self) -> dict[str, Any]:
        """What a checkpoint holds of it."""
        return {"count": self._count, "weights": self.weights}

    @torch.no_grad()
    def restore(self, state: Mapping[str, Any] | None) -> None:
        """Goes on from what :meth:`state` gave; from None it begins with the weights of now."""
        self._count = state["count"] if state else 0
        for name, p in self._parameters.items():
            self.weights[name].copy_(state["weights"][name] if state else p.detach())
