"""The encoder of BERT (Devlin et al. 2019), post-norm, as plain functions over plain weights.

Weights are a tree of arrays; every matrix has a bias, every norm a weight and a bias::

    words (V, w), positions (P, w), types (T, w), norm {weight, bias}
    layers [layer …]   attention {w_q b_q w_k b_k w_v b_v w_o b_o}, norm_attention,
                       feed_forward {w_in b_in w_out b_out}, norm_feed_forward

B sentences, S positions, w the width, V the vocabulary, P the longest sentence in pieces.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearhead.core.observation import Observe
from clearhead.errors import ModelError
from clearhead.inputs.masks import lengths as up_to
from clearhead.layer.embedding import embed
from clearhead.layer.feedforward import feed_forward
from clearhead.layer.multihead import multi_head_attention
from clearhead.layer.norm import layer_norm
from clearhead.model.files import read_json

__all__ = ["BertConfig", "bert_shapes", "bert_states"]

Weights = Mapping[str, Any]

# What config.json calls the sizes; an absurd one is refused before anything is made of it.
_SIZES = {
    "vocabulary": ("vocab_size", 10_000_000),
    "width": ("hidden_size", 65_536),
    "heads": ("num_attention_heads", 1_024),
    "layers": ("num_hidden_layers", 1_000),
    "inner": ("intermediate_size", 1_048_576),
    "positions": ("max_position_embeddings", 1_048_576),
    "types": ("type_vocab_size", 1_024),
}


@dataclasses.dataclass(frozen=True)
class BertConfig:
    """The sizes of a BERT-type encoder.

    Attributes:
        vocabulary: pieces.
        width: of the model; every head is ``width // heads`` wide.
        heads: attention heads of every layer.
        layers: how many.
        inner: width of the feed-forward networks between their two maps.
        positions: pieces of the longest sentence, special ones included.
        types: kinds of segments; a single sentence is all of kind 0.
        activation: "gelu" (the exact one) or "relu".
        eps: added to the variance in every norm.

    Example:
        >>> BertConfig(vocabulary=100, width=8, heads=2, layers=1, inner=32, positions=16).eps
        1e-12
    """

    vocabulary: int
    width: int
    heads: int
    layers: int
    inner: int
    positions: int
    types: int = 2
    activation: str = "gelu"
    eps: float = 1e-12

    def __post_init__(self) -> None:
        """Refuses what cannot be, by the name that config.json has for it."""
        for name, (theirs, most) in _SIZES.items():
            size: Any = getattr(self, name)
            if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= most:
                raise ModelError(f"found {theirs} {size!r}; wanted a whole number from 1 to {most}")
        if self.width % self.heads:
            raise ModelError(
                f"hidden_size is {self.width}, num_attention_heads is {self.heads}; "
                "wanted a multiple"
            )
        if self.activation not in ("gelu", "relu"):
            raise ModelError(f"found hidden_act {self.activation!r}; wanted 'gelu' or 'relu'")
        eps: Any = self.eps
        if not isinstance(eps, int | float) or not 0 < eps < 1:
            raise ModelError(f"found layer_norm_eps {eps!r}; wanted a number in (0, 1)")

    @classmethod
    def read(cls, path: Path) -> BertConfig:
        """Reads the ``config.json`` of a Hugging Face checkpoint folder.

        Raises:
            ModelError: the file is missing, is not JSON, describes another architecture, or has
                sizes that cannot be.
        """
        return cls.from_dict(read_json(path), str(path))

    @classmethod
    def from_dict(cls, found: Any, name: str = "config") -> BertConfig:
        """Makes a config of a dictionary, as it came from JSON; what is not used is passed over."""
        kind = found.get("model_type") if isinstance(found, dict) else None
        if kind != "bert":
            raise ModelError(f"{name}: found model_type {kind!r}; wanted 'bert'")
        position = found.get("position_embedding_type", "absolute")
        if position != "absolute" or found.get("is_decoder") or found.get("add_cross_attention"):
            raise ModelError(
                f"{name} describes a decoder or relative positions; wanted a plain BERT encoder"
            )
        sizes = {ours: found.get(theirs) for ours, (theirs, _) in _SIZES.items()}
        sizes["types"] = found.get("type_vocab_size", 2)
        eps = found.get("layer_norm_eps", 1e-12)
        try:
            return cls(**sizes, activation=found.get("hidden_act", "gelu"), eps=eps)
        except ModelError as error:
            raise ModelError(f"{name}: {error}") from None


def bert_shapes(config: BertConfig) -> dict[str, tuple[int, ...]]:
    """Every weight of the tree by its flat name, and its shape."""
    w, inner = config.width, config.inner
    norms = {"weight": (w,), "bias": (w,)}
    matrices = {
        f"attention.{kind}_{x}": (w, w)[: 2 if kind == "w" else 1] for x in "qkvo" for kind in "wb"
    }
    network = {"w_in": (w, inner), "b_in": (inner,), "w_out": (inner, w), "b_out": (w,)}
    layer: dict[str, tuple[int, ...]] = {
        **matrices,
        **{f"feed_forward.{name}": shape for name, shape in network.items()},
        **{
            f"norm_{block}.{n}": s
            for block in ("attention", "feed_forward")
            for n, s in norms.items()
        },
    }
    return {
        "words": (config.vocabulary, w),
        "positions": (config.positions, w),
        "types": (config.types, w),
        **{f"norm.{name}": shape for name, shape in norms.items()},
        **{f"layers.{i}.{n}": s for i in range(config.layers) for n, s in layer.items()},
    }


def bert_states(
    weights: Weights,
    config: BertConfig,
    ids: Any,
    lengths: Any = None,
    types: Any = None,
    observe: Observe | None = None,
) -> Any:
    """Reads sentences.

    Args:
        weights: the tree described above, of NumPy arrays or torch tensors.
        config: the sizes.
        ids: (B, S) pieces, padded on the right.
        lengths: (B,) how many of them count; None is all.
        types: (B, S) kind of segment of every piece; None is 0.
        observe: what to observe in every layer.

    Returns:
        ``layers + 1`` arrays (B, S, w): the embeddings, and what leaves each layer; with
        ``observe``, that and a list of Observations, one a layer.
    """
    mask = None if lengths is None else up_to(keys=lengths)
    x = embed(ids, weights["words"]) + weights["positions"][: ids.shape[-1]]
    kinds = weights["types"][0] if types is None else embed(types, weights["types"])
    x = layer_norm(x + kinds, weights["norm"]["weight"], weights["norm"]["bias"], config.eps)
    states, seen = [x], []
    for layer in weights["layers"]:
        found = multi_head_attention(
            x, layer["attention"], config.heads, mask=mask, observe=observe
        )
        if observe is not None:
            found, observation = found
            seen.append(observation)
        x = _norm(x + found, layer["norm_attention"], config)
        inner = feed_forward(x, layer["feed_forward"], config.activation)
        x = _norm(x + inner, layer["norm_feed_forward"], config)
        states.append(x)
    return states if observe is None else (states, seen)


def _norm(x: Any, norm: Weights, config: BertConfig) -> Any:
    return layer_norm(x, norm["weight"], norm["bias"], config.eps)
