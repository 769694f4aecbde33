"""Which optimiser trains which weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from clearhead.training.muon import Muon
from clearhead.training.processes import Processes
from clearhead.training.recipe import Recipe

__all__ = ["make_optimisers", "of_source", "set_rate"]


def make_optimisers(
    parameters: Mapping[str, Any], recipe: Recipe, processes: Processes | None = None
) -> tuple[Any, Any]:
    """Muon for the matrices; AdamW, fused, for the embedding and the norms.

    A BERT-type encoder that is trained along is AdamW's too, at its own share of the rate.

    Args:
        parameters: by name; their order is that of the state in a checkpoint.
        recipe: of the run.
        processes: among which Muon's matrices are divided.
    """
    matrices = [p for name, p in parameters.items() if _by_muon(name, p)]
    groups: list[dict[str, Any]] = [
        {"params": [p for n, p in parameters.items() if not _by_muon(n, p) and not of_source(n)]}
    ]
    if slow := [p for name, p in parameters.items() if of_source(name)]:
        groups.append({"params": slow, "share": recipe.encoder_rate})
    return (
        Muon(matrices, recipe.rate, processes),
        torch.optim.AdamW(
            groups, lr=recipe.rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True
        ),
    )  # fmt: skip


def set_rate(optimisers: tuple[Any, ...], rate: float) -> None:
    """Gives every group its learning rate for the next step."""
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = rate * group.get("share", 1.0)


def of_source(name: str) -> bool:
    """Whether a weight belongs to the BERT-type encoder that reads the source first."""
    return name.startswith("source.")


def _by_muon(name: str, weight: Any) -> bool:
    return weight.ndim == 2 and name != "embedding" and not of_source(name)
