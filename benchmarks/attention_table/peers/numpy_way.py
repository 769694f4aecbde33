"""NumPy: the formula, as one would write it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import Inputs
from .peer import Way, reads

__all__ = ["formula"]


def formula(inputs: Inputs, threads: int) -> dict[str, Way]:
    """softmax(q kᵀ / sqrt(d)) v; the heads of a group are queries of their key head."""
    cell = inputs.cell
    q = inputs.q.numpy()
    if cell.heads != cell.kv_heads:
        q = q.reshape(cell.batch, cell.kv_heads, -1, cell.width)
    k, v = inputs.k.numpy().swapaxes(-1, -2), inputs.v.numpy()
    added = None if inputs.additive is None else inputs.additive.numpy()
    scale = np.float32(cell.width**-0.5)

    def call() -> Any:
        scores = q @ k * scale
        if added is not None:
            scores += added
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v

    return {"formula": Way(call, reads(cell))}
