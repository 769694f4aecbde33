"""torch: its fused call as users make it, its plain mathematics, and FlexAttention compiled."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from ..inputs import Inputs
from .peer import Way, as_float32, load, reads

__all__ = ["eager", "flex", "fused", "viewed"]

sdpa = torch.nn.functional.scaled_dot_product_attention


def fused(inputs: Inputs, threads: int) -> dict[str, Way]:
    """``scaled_dot_product_attention`` as it chooses: the causal flag, or the mask as a tensor.

    A bias goes in as (1, heads, queries, keys): without the leading 1 torch leaves its fused pass.
    """
    q, k, v, cell = inputs.q, inputs.k, inputs.v, inputs.cell
    added = inputs.additive if cell.bias else inputs.mask
    causal, group = cell.mask == "causal", cell.heads != cell.kv_heads
    mask = None if causal else added

    def call() -> Any:
        return sdpa(q, k, v, attn_mask=mask, is_causal=causal, enable_gqa=group)

    return {"sdpa": Way(call, as_float32)}


def viewed(inputs: Inputs, threads: int) -> dict[str, Way]:
    """Decoding with the heads of a group as queries of their key head, which spares torch reads."""
    cell = inputs.cell
    if not cell.decoding:
        return {}
    k, v = inputs.k, inputs.v
    q = inputs.q.view(cell.batch, cell.kv_heads, cell.heads // cell.kv_heads, cell.width)
    return {"sdpa on a view": Way(lambda: sdpa(q, k, v), reads(cell))}


def eager(inputs: Inputs, threads: int) -> dict[str, Way]:
    """The same call held to torch's plain mathematics: scores, softmax, product."""
    one = fused(inputs, threads)["sdpa"]

    def call() -> Any:
        with sdpa_kernel(SDPBackend.MATH):
            return one.call()

    return {"math": Way(call, one.read)}


@cache
def _compiled() -> Any:
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no pool of workers to disturb
    torch._dynamo.config.recompile_limit = 1000
    module = load("torch.nn.attention.flex_attention")
    return torch.compile(module.flex_attention, dynamic=False)


def flex(inputs: Inputs, threads: int) -> dict[str, Way]:
    """FlexAttention compiled for the cell's shapes, with a block mask where there is a mask."""
    q, k, v, cell = inputs.q, inputs.k, inputs.v, inputs.cell
    options: dict[str, Any] = {"enable_gqa": cell.heads != cell.kv_heads}
    lengths, before, bias = torch.tensor(cell.lengths), cell.before, inputs.bias
    seen = {
        "causal": lambda b, h, i, j: i >= j,
        "window": lambda b, h, i, j: (i >= j) & (i - j <= before),
        "padded": lambda b, h, i, j: j < lengths[b],
        "packed": lambda b, h, i, j: j < lengths[b],
    }.get(cell.mask)
    if seen is not None:
        make = load("torch.nn.attention.flex_attention").create_block_mask
        batch = cell.batch if cell.lengths else None
        options["block_mask"] = make(seen, batch, None, cell.queries, cell.keys, device="cpu")
    if bias is not None:
        options["score_mod"] = lambda score, b, h, i, j: score + bias[h, i, j]
    run = _compiled()
    return {"flex_attention": Way(lambda: run(q, k, v, **options), as_float32)}
