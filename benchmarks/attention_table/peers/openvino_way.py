"""OpenVINO: one ScaledDotProductAttention, compiled for the CPU and the kind of the inputs."""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np
import torch

from ..inputs import Inputs
from .peer import Output, Way, as_float32, load, reads

__all__ = ["sdpa"]


def sdpa(inputs: Inputs, threads: int) -> dict[str, Way]:
    """A mask is one more input, 0 or −∞ to add; the heads of a group are queries of their key."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type] # calls home
    ov, nodes, cell = load("openvino"), load("openvino.opset13"), inputs.cell
    q = inputs.q.view(cell.batch, cell.kv_heads, -1, cell.width)  # as many queries as a group has
    if cell.heads == cell.kv_heads:
        q = inputs.q
    causal = cell.mask == "causal"
    given = [q, inputs.k, inputs.v]
    if not causal and inputs.additive is not None:
        given.append(inputs.additive)
    kind = {"float32": ov.Type.f32, "bfloat16": ov.Type.bf16, "float16": ov.Type.f16}[inputs.kind]
    parameters = [nodes.parameter(list(x.shape), kind) for x in given]
    node = nodes.scaled_dot_product_attention(*parameters, causal=causal)
    hint = ov.Type.bf16 if inputs.kind == "bfloat16" else ov.Type.f32
    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": hint,
    }
    request = ov.Core().compile_model(ov.Model([node], parameters), "CPU", settings)
    request = request.create_infer_request()
    for place, x in enumerate(given):
        request.set_input_tensor(place, _tensor(ov, x, kind))

    def call() -> Any:
        request.infer()
        return request.get_output_tensor(0).data

    def read(found: Any) -> Output:
        wide = found.view(ml_dtypes.bfloat16) if inputs.kind == "bfloat16" else found
        return reads(cell)(as_float32(wide))

    return {"ScaledDotProductAttention": Way(call, read)}


def _tensor(ov: Any, x: torch.Tensor, kind: Any) -> Any:
    """The numbers of the tensor, not copied."""
    x = x.contiguous()
    if x.dtype == torch.bfloat16:
        return ov.Tensor(np.asarray(x.view(torch.int16).numpy()), list(x.shape), kind)
    return ov.Tensor(x.numpy(), shared_memory=True)
