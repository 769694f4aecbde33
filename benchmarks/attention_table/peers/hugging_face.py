"""Hugging Face: the two functions that its models call on a CPU, by their setting."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from ..inputs import Inputs
from .peer import Output, Way, head_last, load

__all__ = ["eager", "sdpa"]


def sdpa(inputs: Inputs, threads: int) -> dict[str, Way]:
    """``sdpa_attention_forward``, which ends in torch's fused call."""
    run = load("transformers.integrations.sdpa_attention").sdpa_attention_forward
    causal = inputs.cell.mask == "causal"
    return _ways(inputs, run, None if causal else inputs.additive, is_causal=causal)


def eager(inputs: Inputs, threads: int) -> dict[str, Way]:
    """``eager_attention_forward`` of its Llama: the one that can return the weights."""
    run = load("transformers.models.llama.modeling_llama").eager_attention_forward
    return _ways(inputs, run, inputs.additive)


def _ways(inputs: Inputs, run: Any, mask: torch.Tensor | None, **options: Any) -> dict[str, Way]:
    cell = inputs.cell
    q, k, v, scale = inputs.q, inputs.k, inputs.v, cell.width**-0.5
    layer = SimpleNamespace(num_key_value_groups=cell.heads // cell.kv_heads, training=False)

    def read(found: Any) -> Output:
        return head_last(found[0])

    return {run.__name__: Way(lambda: run(layer, q, k, v, mask, scaling=scale, **options), read)}
