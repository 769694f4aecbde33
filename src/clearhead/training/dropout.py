"""Dropout whose random numbers cost little, and depend on the seed and the step alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from clearhead.model.translation import whole

__all__ = ["dropout"]


def dropout(
    share: float, seed: tuple[int, ...], *, rows: slice | None = None, of: int = 0
) -> Callable[[Any], Any]:
    """What sets a share of a tensor's numbers to zero and scales the rest by 1 / (1 − share).

    torch draws one number of its own for each element, which took as long as a matrix product
    here. One random byte an element is enough: the share is rounded to 1/256, and 1 / (1 − share)
    is that of the rounded share.

    Args:
        share: from 0 (the tensors are returned as they are) to 0.9 (Srivastava et al. 2014).
        seed: non-negative whole numbers; the same seed drops the same elements, call by call.
        rows: which of the ``of`` rows of a batch the tensors hold; None is all. They lose what they
            would lose as part of the whole, so the processes of a run drop what one would.
        of: rows of the whole batch.

    Returns:
        a function of a tensor.

    Example:
        >>> import torch
        >>> drop = dropout(0.25, (0, 7))
        >>> drop(torch.ones(1000)).unique()
        tensor([0.0000, 1.3333])
    """
    threshold = round(share * 256)
    if not threshold:
        return whole
    bits = np.random.SFC64(seed)
    kept = 256 / (256 - threshold)

    def drop(x: Any) -> Any:
        size = x.numel()
        each = size // max(len(x), 1)
        before, all_of_them = (each * rows.start, each * of) if rows else (0, size)
        drawn = bits.random_raw(-(-all_of_them // 8)).view(np.uint8)[before : before + size]
        stays = torch.from_numpy(drawn >= threshold).view(x.shape)  # NumPy's comparison is faster
        return x * stays.to(x.device, x.dtype).mul_(kept)

    return drop
