"""Muon for matrices (Jordan et al. 2024): momentum, made orthogonal by a few matrix products."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch

from clearhead.training.processes import Processes

__all__ = ["Muon", "orthogonal"]

_A, _B, _C = 3.4445, -4.7750, 2.0315  # a(x) = A x + B x³ + C x⁵, steepest at 0
_ROUNDS = 5


def orthogonal(matrices: Any) -> Any:
    """The nearest orthogonal matrices, roughly, by Newton–Schulz rounds in bfloat16.

    Five rounds of X ← A X + (B X Xᵀ + C (X Xᵀ)²) X take every singular value from (0, 1] to about
    0.7 … 1.2. Matrices of one shape go through together, as a stack.

    Args:
        matrices: (n, rows, columns), of any kind.

    Returns:
        (n, rows, columns) bfloat16.

    Example:
        >>> x = orthogonal(torch.tensor([[[3.0, 0.0], [0.0, 0.5]]]))[0].float()
        >>> bool(((x @ x.T).diagonal() - 1).abs().max() < 0.5)
        True
    """
    x = matrices.bfloat16()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.mT
    x = x / torch.linalg.vector_norm(x, dim=(1, 2), keepdim=True).clamp_min(1e-7)
    for _ in range(_ROUNDS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=_B, alpha=_C), x, beta=_A)
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Momentum 0.95 with Nesterov's look ahead, made orthogonal, at the size of AdamW's steps.

    It does what ``torch.optim.Muon`` with ``match_rms_adamw`` and no weight decay does, and reads
    and writes the same state. Two things are its own: matrices of one shape are made orthogonal
    together, and each of several processes does so for its share of them.

    Args:
        matrices: the parameters, each (rows, columns).
        lr: learning rate.
        processes: among which the matrices are divided.
    """

    def __init__(
        self, matrices: Iterable[Any], lr: float, processes: Processes | None = None
    ) -> None:
        told = {"weight_decay": 0.0, "nesterov": True, "ns_coefficients": (_A, _B, _C)}
        told |= {"eps": 1e-7, "ns_steps": _ROUNDS, "adjust_lr_fn": "match_rms_adamw"}
        super().__init__(matrices, {"lr": lr, "momentum": 0.95} | told)
        self._processes = processes or Processes()

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """One step of all matrices that have a gradient."""
        for group in self.param_groups:
            shapes: dict[Any, list[Any]] = {}
            for p in group["params"]:
                if p.grad is not None:
                    shapes.setdefault(tuple(p.shape), []).append(p)
            for shape, parameters in shapes.items():
                ahead = torch.stack([self._ahead(p, group["momentum"]) for p in parameters])
                rate = group["lr"] * 0.2 * math.sqrt(max(shape))
                for p, update in zip(parameters, self._updates(ahead), strict=True):
                    p.add_(update, alpha=-rate)

    def _ahead(self, p: Any, momentum: float) -> Any:
        """Takes a gradient into its mean, and returns where that is heading, (rows, columns)."""
        state = self.state[p]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(p.grad)
        mean = state["momentum_buffer"].lerp_(p.grad, 1 - momentum)
        return p.grad.lerp(mean, momentum).bfloat16()

    def _updates(self, ahead: Any) -> Any:
        """``orthogonal``, each process its share: the others add zeros, which changes no bit."""
        if self._processes.size == 1:
            return orthogonal(ahead)
        mine = self._processes.share(len(ahead))
        updates = torch.zeros(ahead.shape, device=ahead.device)
        if mine.start < mine.stop:
            updates[mine] = orthogonal(ahead[mine]).float()
        self._processes.add([updates])
        return updates
