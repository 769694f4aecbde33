"""The weights of a translation model: which there are, and where training begins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearhead.model.bert import bert_shapes
from clearhead.model.config import TranslationConfig
from clearhead.model.source import source_width

__all__ = ["random_weights", "weight_shapes"]


def random_weights(config: TranslationConfig, seed: int = 0) -> dict[str, Any]:
    """Fresh weights: normal with deviation 1/√inputs, and zero in what writes to the stream.

    Maps that start at zero let every layer begin as the identity (Zhang et al. 2019, "Fixup").

    Returns:
        the tree that :mod:`clearhead.model.translation` describes, of float32 NumPy arrays,
        without ``source``.
    """
    rng = np.random.default_rng(seed)
    w, inner = config.width, config.inner

    def matrix(rows: int, columns: int) -> Any:
        return (rng.standard_normal((rows, columns)) / math.sqrt(rows)).astype(np.float32)

    def attention() -> dict[str, Any]:
        drawn = {name: matrix(w, w) for name in ("w_q", "w_k", "w_v")}
        return {**drawn, "w_o": np.zeros((w, w), np.float32)}

    def network() -> dict[str, Any]:
        return {"w_in": matrix(w, inner), "w_out": np.zeros((inner, w), np.float32)}

    def ones() -> Any:
        return np.ones(w, np.float32)

    def layer(attentions: tuple[str, ...]) -> dict[str, Any]:
        blocks: dict[str, Any] = {}
        for name in attentions:
            blocks[name], blocks["norm_" + name] = attention(), ones()
        return {**blocks, "feed_forward": network(), "norm_feed_forward": ones()}

    fresh = {
        "embedding": (rng.standard_normal((config.vocabulary, w)) / math.sqrt(w)).astype(
            np.float32
        ),
        "encoder": [layer(("attention",)) for _ in range(config.encoder_layers)],
        "encoder_norm": ones(),
        "decoder": [
            layer(("self_attention", "cross_attention")) for _ in range(config.decoder_layers)
        ],
        "decoder_norm": ones(),
    }
    if config.source is not None:
        fresh["bridge"] = matrix(source_width(config.source), w)
    return fresh


def weight_shapes(config: TranslationConfig) -> dict[str, tuple[int, ...]]:
    """Every weight of a model by its flat name, and its shape.

    Example:
        >>> shapes = weight_shapes(TranslationConfig(vocabulary=9, width=4, heads=1))
        >>> shapes["embedding"], shapes["encoder.0.feed_forward.w_in"]
        ((9, 4), (4, 16))
    """
    w, inner = config.width, config.inner
    shapes: dict[str, tuple[int, ...]] = {"embedding": (config.vocabulary, w)}
    stacks = (
        ("encoder", config.encoder_layers, ("attention",)),
        ("decoder", config.decoder_layers, ("self_attention", "cross_attention")),
    )
    for stack, layers, attentions in stacks:
        for number in range(layers):
            at = f"{stack}.{number}."
            for block in attentions:
                shapes |= {f"{at}{block}.{name}": (w, w) for name in ("w_q", "w_k", "w_v", "w_o")}
                shapes[f"{at}norm_{block}"] = (w,)
            shapes[f"{at}feed_forward.w_in"] = (w, inner)
            shapes[f"{at}feed_forward.w_out"] = (inner, w)
            shapes[f"{at}norm_feed_forward"] = (w,)
        shapes[f"{stack}_norm"] = (w,)
    if config.source is not None:
        shapes["bridge"] = (source_width(config.source), w)
        held = bert_shapes(config.source)
        shapes |= {f"source.{name}": shape for name, shape in held.items()}
    return shapes
