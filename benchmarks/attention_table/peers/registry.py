"""Which peers there are, in the order of the table's columns; ours and its forms first."""

from __future__ import annotations

from ..inputs import Inputs
from .peer import Peer, Way, load

__all__ = ["LOOKING", "OURS", "PEERS", "TORCH", "VIEWED", "chosen_peers"]


class Lazy:
    """The function ``name`` of an adapter, imported when a cell is first computed with it."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, inputs: Inputs, threads: int) -> dict[str, Way]:
        module = load(f"{__package__}.{self.module}")
        found: dict[str, Way] = getattr(module, self.name)(inputs, threads)
        return found


OURS = Peer("ours", "ours", ("numpy",), Lazy("clearhead_way", "plain"))
LOOKING = Peer("looking", "looking", ("numpy",), Lazy("clearhead_way", "looking"))
TORCH = Peer("torch", "torch", ("torch",), Lazy("torch_ways", "fused"))
VIEWED = Peer("viewed", "torch, viewed", ("torch",), Lazy("torch_ways", "viewed"))

PEERS = (
    Peer("eager", "torch eager", ("torch",), Lazy("torch_ways", "eager"), dense=3),
    Peer("flex", "FlexAttention", ("torch",), Lazy("torch_ways", "flex"), compiles=True),
    Peer("hf", "HF sdpa", ("transformers", "torch"), Lazy("hugging_face", "sdpa")),
    Peer("hf-eager", "HF eager", ("transformers", "torch"), Lazy("hugging_face", "eager"), dense=3),
    Peer(
        "jax", "JAX", ("jax", "jaxlib"), Lazy("jax_way", "dot_product"),
        kinds=("float32", "bfloat16"), dense=2,
    ),
    Peer(
        "onnx", "ONNX Runtime", ("onnxruntime", "onnx"), Lazy("onnx_ways", "operators"),
        kinds=("float32", "float16"), dense=1,
    ),
    Peer("openvino", "OpenVINO", ("openvino",), Lazy("openvino_way", "sdpa")),
    Peer("numpy", "NumPy", ("numpy",), Lazy("numpy_way", "formula"), kinds=("float32",), dense=3),
)  # fmt: skip
"""Every other peer; torch's default call stands apart, since the goals are ratios to it."""


def chosen_peers(names: list[str] | None) -> list[Peer]:
    """Those named, in the order of the table; None: all."""
    known = [peer.name for peer in PEERS]
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        raise SystemExit(f"no peer is named {', '.join(unknown)}; there are {', '.join(known)}")
    return [peer for peer in PEERS if names is None or peer.name in names]
