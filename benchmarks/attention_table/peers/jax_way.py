"""JAX: ``jax.nn.dot_product_attention``, compiled, its layout (batch, length, heads, width)."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
import torch

from ..inputs import Inputs
from .peer import Way, head_last, load

__all__ = ["dot_product"]


def dot_product(inputs: Inputs, threads: int) -> dict[str, Way]:
    """The mask goes in as JAX says it: a flag, lengths, or a window."""
    os.environ.setdefault("NPROC", str(threads))  # counts only before the first import
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    jax, cell = load("jax"), inputs.cell
    q, k, v = (_array(x.transpose(1, 2)) for x in (inputs.q, inputs.k, inputs.v))
    settings: dict[str, Any] = {"is_causal": cell.mask in ("causal", "window")}
    arrays: dict[str, Any] = {}
    if cell.mask == "window":
        settings["local_window_size"] = (cell.before, 0)
    if cell.lengths:
        arrays["key_value_seq_lengths"] = jax.numpy.asarray(cell.lengths)
    if inputs.bias is not None:
        arrays["bias"] = _array(inputs.bias[None])
    jitted = jax.jit(partial(jax.nn.dot_product_attention, **settings))
    run = jitted.lower(q, k, v, **arrays).compile()

    def call() -> Any:
        return run(q, k, v, **arrays).block_until_ready()

    return {"dot_product_attention": Way(call, head_last)}


def _array(x: torch.Tensor) -> Any:
    """The tensor as a JAX array of the same kind."""
    jnp = load("jax").numpy
    return jnp.asarray(np.ascontiguousarray(x.float().numpy())).astype(str(x.dtype)[6:])
