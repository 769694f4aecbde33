"""ONNX Runtime: the three operators that compute attention on a CPU; the fastest counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..inputs import Inputs
from .peer import Output, Way, as_float32, load

__all__ = ["operators"]

Array = npt.NDArray[Any]
MICROSOFT = "com.microsoft"


def operators(inputs: Inputs, threads: int) -> dict[str, Way]:
    """Those of ONNX's Attention and Microsoft's two that can say the cell."""
    cell = inputs.cell
    found = {"Attention": _attention(inputs, threads)}
    if cell.heads == cell.kv_heads:
        found["MultiHeadAttention"] = _multi_head(inputs, threads)
    if cell.decoding:
        found["GroupQueryAttention"] = _decoding(inputs, threads)
    elif cell.mask in ("causal", "window"):
        found["GroupQueryAttention"] = _group_query(inputs, threads)
    return found


def _attention(inputs: Inputs, threads: int) -> Way:
    """ONNX's own operator, (batch, heads, length, width), the mask added."""
    causal = inputs.cell.mask == "causal"
    feeds = {name: x.numpy() for name, x in zip("qkv", (inputs.q, inputs.k, inputs.v), strict=True)}
    feeds["mask"] = None if causal else _added(inputs)
    run = _session("Attention", "", feeds, ["out"], threads, is_causal=int(causal))
    return Way(run, as_float32)


def _multi_head(inputs: Inputs, threads: int) -> Way:
    """(batch, length, heads · width); padding goes in as lengths, other masks are added."""
    cell = inputs.cell
    feeds = _flat(inputs)
    causal = int(cell.mask == "causal")
    names: dict[str, Array | None] = {**feeds, "projection": None, "lengths": None, "mask": None}
    if cell.lengths:
        names["lengths"] = np.array(cell.lengths, np.int32)
    elif not causal:
        names["mask"] = _added(inputs)
    options = {"num_heads": cell.heads, "unidirectional": causal}
    return Way(
        _session("MultiHeadAttention", MICROSOFT, names, ["out"], threads, **options),
        _split(inputs),
    )


def _group_query(inputs: Inputs, threads: int) -> Way:
    """Causal by nature, with a window where there is one."""
    cell = inputs.cell
    feeds = {**_flat(inputs), "past_key": None, "past_value": None, **_ends(inputs)}
    window = cell.before + 1 if cell.mask == "window" else -1
    options = {
        "num_heads": cell.heads,
        "kv_num_heads": cell.kv_heads,
        "local_window_size": window,
    }
    outputs = ["out", "present_key", "present_value"]
    return Way(
        _session("GroupQueryAttention", MICROSOFT, feeds, outputs, threads, **options),
        _split(inputs),
    )


def _decoding(inputs: Inputs, threads: int) -> Way:
    """As a model decodes with it: the cache is bound as input and output, nothing is copied."""
    cell, feeds = inputs.cell, _flat(inputs)
    feeds["k"], feeds["v"] = (np.ascontiguousarray(feeds[name][:, -1:]) for name in "kv")
    feeds["past_key"], feeds["past_value"] = inputs.k.numpy(), inputs.v.numpy()
    feeds.update(_ends(inputs))
    options = {"num_heads": cell.heads, "kv_num_heads": cell.kv_heads}
    shared = {"present_key": "past_key", "present_value": "past_value"}
    return Way(
        _session(
            "GroupQueryAttention",
            MICROSOFT,
            feeds,
            ["out", *shared],
            threads,
            shared=shared,
            **options,
        ),
        _split(inputs),
    )


def _flat(inputs: Inputs) -> dict[str, Array]:
    """q, k and v as (batch, length, heads · width)."""
    tensors = zip("qkv", (inputs.q, inputs.k, inputs.v), strict=True)
    return {name: x.transpose(1, 2).flatten(2).contiguous().numpy() for name, x in tensors}


def _split(inputs: Inputs) -> Callable[[Any], Output]:
    """Back from (batch, length, heads · width)."""
    batch, heads, queries, width = inputs.cell.shape
    return lambda x: as_float32(x).reshape(batch, queries, heads, width).swapaxes(1, 2)


def _ends(inputs: Inputs) -> dict[str, Array]:
    """Where the keys end: the place of the last one per sample, and how many there are."""
    cell = inputs.cell
    last = np.full(cell.batch, cell.keys - 1, np.int32)
    return {"last": last, "total": np.array([cell.keys], np.int32)}


def _added(inputs: Inputs) -> Array | None:
    """Mask and bias to add, with as many queries as there are."""
    x: torch.Tensor | None = inputs.additive
    if x is None:
        return None
    return np.ascontiguousarray(x.expand(-1, -1, inputs.cell.queries, -1).numpy())


def _session(
    operator: str,
    domain: str,
    feeds: dict[str, Array | None],
    outputs: list[str],
    threads: int,
    shared: dict[str, str] | None = None,
    **attributes: int,
) -> Callable[[], Any]:
    """A model of one node over the feeds, as a call that returns its first output.

    A feed of None leaves that input out. ``shared``: outputs that are written over an input.
    """
    helper, ort = load("onnx.helper"), load("onnxruntime")
    given = {name: x for name, x in feeds.items() if x is not None}
    names = [name if x is not None else "" for name, x in feeds.items()]
    while not names[-1]:
        names.pop()
    kinds = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in given.items()}
    node = helper.make_node(operator, names, outputs, domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        "attention",
        [helper.make_tensor_value_info(name, kinds[name], x.shape) for name, x in given.items()],
        [helper.make_tensor_value_info(name, kinds["q"], None) for name in outputs],
    )
    versions = [helper.make_opsetid("", 23), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    binding = session.io_binding()
    values = {name: ort.OrtValue.ortvalue_from_numpy(x) for name, x in given.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for name in outputs:
        if shared and name in shared:
            binding.bind_ortvalue_output(name, values[shared[name]])
        else:
            binding.bind_output(name)

    def call() -> Any:
        session.run_with_iobinding(binding)
        return binding.get_outputs()[0].numpy()

    return call
