"""The kind in which products are made in training."""

from __future__ import annotations

import time
from typing import Any

import torch

__all__ = ["product_kind"]


def product_kind(precision: str, device: Any) -> Any:
    """The kind of the products; "auto" times one product of each kind, as machines differ.

    Args:
        precision: "auto", "float32" or "bfloat16".
        device: where they are made; other than on a CPU "auto" is bfloat16.

    Example:
        >>> product_kind("float32", torch.device("cpu"))
        torch.float32
    """
    if precision != "auto":
        return getattr(torch, precision)
    if device.type != "cpu":
        return torch.bfloat16
    times = {}
    for kind in (torch.float32, torch.bfloat16):
        a, b = torch.ones(1024, 512, dtype=kind), torch.ones(512, 512, dtype=kind)
        a @ b
        start = time.perf_counter()
        for _ in range(4):
            a @ b
        times[kind] = time.perf_counter() - start
    # Copies between kinds eat a good part of a small gain.
    return torch.bfloat16 if times[torch.bfloat16] * 1.5 < times[torch.float32] else torch.float32
