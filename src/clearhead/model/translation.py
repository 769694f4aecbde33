"""The encoder–decoder Transformer, pre-norm, as plain functions over plain weights.

Weights are a tree of arrays, without biases in the matrices::

    embedding (V, w), encoder [layer …], encoder_norm (w,), decoder [layer …], decoder_norm (w,)
    encoder layer   attention, norm_attention, feed_forward, norm_feed_forward
    decoder layer   self_attention, norm_self_attention, cross_attention, norm_cross_attention,
                    feed_forward, norm_feed_forward
    bridge, source  only where a BERT-type encoder reads the source first (:mod:`.source`)

The embedding is tied with the output (Press and Wolf 2017); norms come before each sub-layer
(Xiong et al. 2020). B sentences, S source and T target positions, w the width, V the vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from clearhead.core.observation import Observe
from clearhead.inputs.arrays import is_torch, namespace
from clearhead.inputs.masks import causal
from clearhead.inputs.masks import lengths as up_to
from clearhead.layer.embedding import embed
from clearhead.layer.feedforward import feed_forward
from clearhead.layer.linear import linear
from clearhead.layer.multihead import multi_head_attention
from clearhead.layer.norm import layer_norm
from clearhead.layer.positions import sinusoid
from clearhead.model.config import TranslationConfig
from clearhead.model.source import source_states

__all__ = [
    "decode",
    "decoder_layer",
    "encode",
    "encode_states",
    "encoder_layer",
    "enter",
    "logits",
    "place",
]

Weights = Mapping[str, Any]
Attend = Callable[[Any, Weights], tuple[Any, Any]]
Drop = Callable[[Any], Any]


def whole(x: Any) -> Any:
    """Drops nothing: how every model runs that is not being trained."""
    return x


def place(ids: Any, weights: Weights, start: int = 0) -> Any:
    """Pieces to vectors: the embedding, scaled by √w, plus the positions. (B, N) → (B, N, w)"""
    table = weights["embedding"]
    width = table.shape[1]
    positions: Any = sinusoid(ids.shape[-1], width, start)
    if is_torch(table):
        positions = namespace(table).tensor(positions, dtype=table.dtype, device=table.device)
    return embed(ids, table) * math.sqrt(width) + positions


def enter(
    weights: Weights, config: TranslationConfig, ids: Any, lengths: Any = None, states: Any = None
) -> Any:
    """What enters the first layer of the encoder: (B, S) pieces → (B, S, w).

    ``states`` are those that :func:`clearhead.model.source.source_states` gave for the same
    pieces, where they are at hand already.
    """
    if config.source is None:
        return place(ids, weights)
    if states is None:
        states = source_states(weights["source"], config.source, ids, lengths)
    return linear(states, weights["bridge"])


def encoder_layer(
    x: Any,
    layer: Weights,
    config: TranslationConfig,
    mask: Any,
    observe: Observe | None = None,
    drop: Drop = whole,
) -> tuple[Any, Any]:
    """One layer of the encoder, (B, S, w) → (B, S, w), and its Observation or None.

    ``drop`` is what training does to each sub-layer's output before it is added.
    """
    seen = None
    found = multi_head_attention(
        layer_norm(x, layer["norm_attention"]), layer["attention"], config.heads,
        mask=mask, observe=observe,
    )  # fmt: skip
    if observe is not None:
        found, seen = found
    x = x + drop(found)
    inner = layer_norm(x, layer["norm_feed_forward"])
    return x + drop(feed_forward(inner, layer["feed_forward"], config.activation)), seen


def encode_states(
    weights: Weights,
    config: TranslationConfig,
    ids: Any,
    lengths: Any = None,
    states: Any = None,
    drop: Drop = whole,
) -> list[Any]:
    """What enters each layer of the encoder, and last what leaves the whole encoder.

    ``drop`` is as in :func:`encoder_layer`, and applied to what enters the first layer too.

    Returns:
        ``encoder_layers + 1`` arrays (B, S, w), the last one normalised.
    """
    mask = None if lengths is None else up_to(keys=lengths)
    x = drop(enter(weights, config, ids, lengths, states))
    entered = []
    for layer in weights["encoder"]:
        entered.append(x)
        x, _ = encoder_layer(x, layer, config, mask, drop=drop)
    return [*entered, layer_norm(x, weights["encoder_norm"])]


def encode(
    weights: Weights,
    config: TranslationConfig,
    ids: Any,
    lengths: Any = None,
    observe: Observe | None = None,
) -> Any:
    """Reads the source.

    Args:
        weights: the tree described above.
        config: the sizes.
        ids: (B, S) source pieces, padded on the right.
        lengths: (B,) how many of them count; None is all.
        observe: what to observe in every layer.

    Returns:
        the memory (B, S, w); with ``observe``, that and a list of Observations, one a layer.
    """
    mask = None if lengths is None else up_to(keys=lengths)
    x = enter(weights, config, ids, lengths)
    seen = []
    for layer in weights["encoder"]:
        x, found = encoder_layer(x, layer, config, mask, observe)
        seen.append(found)
    memory = layer_norm(x, weights["encoder_norm"])
    return memory if observe is None else (memory, seen)


def decoder_layer(
    x: Any,
    layer: Weights,
    config: TranslationConfig,
    look_back: Attend,
    look_across: Attend,
    drop: Drop = whole,
) -> tuple[Any, Any, Any]:
    """One layer of the decoder: how it attends is handed in, so a cache changes nothing else.

    Args:
        x: (B, T, w)
        look_back, look_across: self- and cross-attention; normalised x and the weights of the
            attention in, (B, T, w) and an Observation or None out.
        drop: as in :func:`encoder_layer`.

    Returns:
        (B, T, w), and the two Observations or None.
    """
    found, seen_self = look_back(
        layer_norm(x, layer["norm_self_attention"]), layer["self_attention"]
    )
    x = x + drop(found)
    found, seen_cross = look_across(
        layer_norm(x, layer["norm_cross_attention"]), layer["cross_attention"]
    )
    x = x + drop(found)
    inner = layer_norm(x, layer["norm_feed_forward"])
    x = x + drop(feed_forward(inner, layer["feed_forward"], config.activation))
    return x, seen_self, seen_cross


def decode(
    weights: Weights,
    config: TranslationConfig,
    ids: Any,
    memory: Any,
    memory_lengths: Any = None,
    observe: Observe | None = None,
    drop: Drop = whole,
) -> Any:
    """Reads a whole target at once: position t sees the source and the target up to t.

    Args:
        ids: (B, T) target pieces, the language tag first.
        memory: (B, S, w) what :func:`encode` returned.
        memory_lengths: (B,) source pieces that count; None is all.
        observe: what to observe in every layer, of self- and of cross-attention.
        drop: as in :func:`encode_states`.

    Returns:
        (B, T, w) hidden states for :func:`logits`; with ``observe``, that and two lists of
        Observations, of the self- and of the cross-attention of every layer.
    """
    cross_mask = None if memory_lengths is None else up_to(keys=memory_lengths)

    def look_back(x: Any, block: Weights) -> Any:
        found = multi_head_attention(x, block, config.heads, mask=causal(), observe=observe)
        return found if observe is not None else (found, None)

    def look_across(x: Any, block: Weights) -> Any:
        found = multi_head_attention(
            x, block, config.heads, memory=memory, mask=cross_mask, observe=observe
        )
        return found if observe is not None else (found, None)

    x = drop(place(ids, weights))
    seen_self, seen_cross = [], []
    for layer in weights["decoder"]:
        x, back, across = decoder_layer(x, layer, config, look_back, look_across, drop)
        seen_self.append(back)
        seen_cross.append(across)
    hidden = layer_norm(x, weights["decoder_norm"])
    return hidden if observe is None else (hidden, seen_self, seen_cross)


def logits(weights: Weights, hidden: Any) -> Any:
    """Scores of every piece as the next one: (..., w) → (..., V), by the tied embedding."""
    table = weights["embedding"]
    lead = hidden.shape[:-1]
    return (hidden.reshape((-1, table.shape[1])) @ table.T).reshape((*lead, table.shape[0]))
