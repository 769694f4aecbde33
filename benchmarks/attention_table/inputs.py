"""Fresh random inputs of a cell in the forms that peers take, and what float64 says of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch

from .cells import Cell

__all__ = ["Inputs", "error_of"]

Array = npt.NDArray[np.float64]


class Inputs:
    """q, k and v of one cell as torch tensors, (batch, heads, length, width), and its masks.

    For packed sequences these are the padded batch; ``packed`` holds the same rows without padding.
    """

    def __init__(self, cell: Cell, kind: str, seed: int) -> None:
        self.cell, self.kind = cell, kind
        self.dtype: torch.dtype = getattr(torch, kind)
        generator = torch.Generator().manual_seed(seed)

        def normal(*shape: int) -> torch.Tensor:
            return torch.randn(shape, generator=generator).to(self.dtype)

        self.q = normal(*cell.shape)
        self.k, self.v = (normal(cell.batch, cell.kv_heads, cell.keys, cell.width) for _ in "kv")
        self.bias = normal(cell.heads, cell.queries, cell.keys) if cell.bias else None

    @cached_property
    def packed(self) -> tuple[torch.Tensor, ...]:
        """q, k, v of the valid positions alone, (1, heads, sum of the lengths, width)."""
        return tuple(self.without_padding(x) for x in (self.q, self.k, self.v))

    def without_padding(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, heads, length, width) -> (1, heads, sum of the lengths, width)."""
        rows = [one[:, :length] for one, length in zip(x, self.cell.lengths, strict=True)]
        return torch.cat(rows, 1)[None].contiguous()

    def with_padding(self, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The other way: (1, heads, sum of the lengths, width) -> a padded batch."""
        out = np.zeros(self.cell.shape, np.float32)
        ends = np.cumsum(self.cell.lengths)
        for one, end, length in zip(out, ends, self.cell.lengths, strict=True):
            one[:, :length] = x[0, :, end - length : end]
        return out

    @cached_property
    def segments(self) -> npt.NDArray[np.int64]:
        """Which sequence each packed position belongs to, (sum of the lengths,)."""
        return np.repeat(np.arange(len(self.cell.lengths)), self.cell.lengths)

    @cached_property
    def mask(self) -> torch.Tensor | None:
        """What may be looked at as a boolean tensor that broadcasts to the scores; None: all."""
        cell = self.cell
        i, j = torch.arange(cell.queries)[:, None], torch.arange(cell.keys)
        if cell.lengths:
            return (j < torch.tensor(cell.lengths)[:, None])[:, None, None]
        if cell.mask == "causal":
            return j <= i
        if cell.mask == "window":
            return (j <= i) & (j >= i - cell.before)
        return None

    @cached_property
    def additive(self) -> torch.Tensor | None:
        """Mask and bias as one tensor to add, (1 or batch, 1 or heads, 1 or queries, keys)."""
        if self.bias is not None:
            return self.bias[None]
        if self.mask is None:
            return None
        zero = torch.zeros((), dtype=self.dtype)
        added = torch.where(self.mask, zero, torch.tensor(-torch.inf, dtype=self.dtype))
        return added if added.ndim == 4 else added[None, None]

    def exact(self, sample: int, head: int, rows: npt.NDArray[np.int64]) -> Array:
        """Those rows of the output in float64, (rows, width), by the formula."""
        cell = self.cell
        group = head // (cell.heads // cell.kv_heads)
        q = self.q[sample, head].double().numpy()[rows]
        k, v = (x[sample, group].double().numpy() for x in (self.k, self.v))
        scores = q @ k.T / np.sqrt(cell.width)
        if self.bias is not None:
            scores += self.bias[head].double().numpy()[rows]
        if self.mask is not None:
            seen = self.mask[sample, 0] if self.mask.ndim == 4 else self.mask
            scores[~np.broadcast_to(seen.numpy(), (cell.queries, cell.keys))[rows]] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v


def error_of(out: npt.NDArray[np.float32], inputs: Inputs, count: int = 64) -> float:
    """The largest difference to float64 in a row, of its largest number: over some rows.

    ``out`` is (batch, heads, queries, width). The first and the last sample and head are looked at,
    and of each up to ``count`` rows, the first and the last of them always.
    """
    cell = inputs.cell
    if out.shape != cell.shape:
        return float("inf")
    worst = 0.0
    for sample, head in {(0, 0), (cell.batch - 1, cell.heads - 1)}:
        valid = cell.lengths[sample] if cell.mask == "packed" else cell.queries
        rows = np.unique(np.linspace(0, valid - 1, count).round().astype(np.int64))
        exact = inputs.exact(sample, head, rows)
        off = np.abs(out[sample, head][rows].astype(np.float64) - exact).max(-1)
        off = np.where(np.isfinite(off), off, np.inf)
        worst = max(worst, float((off / np.abs(exact).max(-1)).max()))
    return worst
