"""Decoding piece by piece: what was computed for earlier pieces is kept and not computed again.

The memory's keys and values are projected once, and shared by all hypotheses of a sentence: these
stand beside each other as queries of one attention. B sentences, K hypotheses of each (the beam),
R = B · K rows, S source positions, w the width.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.core.observation import Observe
from clearhead.errors import ArgumentError
from clearhead.inputs.arrays import in_library_of, is_torch, namespace
from clearhead.inputs.masks import Mask
from clearhead.inputs.masks import lengths as up_to
from clearhead.layer.heads import attend, project, split_heads
from clearhead.layer.norm import layer_norm
from clearhead.model.config import TranslationConfig
from clearhead.model.translation import decoder_layer, place

__all__ = ["Decoding", "choose", "start", "step"]

Weights = Mapping[str, Any]
_FIRST_ROOM = 16  # positions; the room doubles when it is used up


@dataclass
class Decoding:
    """Where the decoding of B sentences stands.

    Attributes:
        position: how many pieces every hypothesis has read.
        keys, values: of the self-attention, one array (R, room, w) a layer, valid to ``position``.
        cross_keys, cross_values: of the memory, one array (B, S, w) a layer.
        memory_lengths: (B,) source pieces that count, or None for all.
    """

    position: int
    keys: list[Any]
    values: list[Any]
    cross_keys: list[Any]
    cross_values: list[Any]
    memory_lengths: Any

    @property
    def sentences(self) -> int:
        """B."""
        return int(self.cross_keys[0].shape[0]) if self.cross_keys else 0

    @property
    def mask(self) -> Mask | None:
        """What the hypotheses may see of the memory."""
        return None if self.memory_lengths is None else up_to(keys=self.memory_lengths)


def start(
    weights: Weights, config: TranslationConfig, memory: Any, memory_lengths: Any = None
) -> Decoding:
    """The state before the first piece, with one hypothesis a sentence.

    Args:
        weights, config: of the model.
        memory: (B, S, w) what :func:`clearhead.model.translation.encode` returned.
        memory_lengths: (B,) source pieces that count; None is all.
    """
    blocks = [layer["cross_attention"] for layer in weights["decoder"]]
    room = (memory.shape[0], _FIRST_ROOM, memory.shape[2])
    return Decoding(
        position=0,
        keys=[_empty(room, memory) for _ in blocks],
        values=[_empty(room, memory) for _ in blocks],
        cross_keys=[project(memory, block, "k") for block in blocks],
        cross_values=[project(memory, block, "v") for block in blocks],
        memory_lengths=memory_lengths,
    )


def step(
    weights: Weights,
    config: TranslationConfig,
    ids: Any,
    state: Decoding,
    observe: Observe | None = None,
) -> Any:
    """Reads one more piece of every hypothesis; ``state`` goes on by one position.

    Args:
        weights, config: of the model.
        ids: (B, K) the pieces, the language tag first of all.
        state: of B sentences with K hypotheses each; it is changed.
        observe: what to observe in every layer.

    Returns:
        (B, K, w) hidden states for :func:`clearhead.model.translation.logits`, equal to those of
        the full pass but for rounding; with ``observe``, that and two lists of Observations, of
        the self-attention (R, heads, 1, position) and the cross-attention (B, heads, K, S).

    Raises:
        ArgumentError: the state holds another number of hypotheses.
    """
    sentences, beam = ids.shape
    rows, at, heads = sentences * beam, state.position, config.heads
    if state.keys and (state.keys[0].shape[0], state.sentences) != (rows, sentences):
        raise ArgumentError(
            f"ids has shape {(sentences, beam)}; the state holds {state.keys[0].shape[0]} "
            f"hypotheses of {state.sentences} sentences: bring it along with choose()"
        )
    mask = state.mask
    x = place(ids.reshape((rows, 1)), weights, at)
    seen_self, seen_cross = [], []
    for number, layer in enumerate(weights["decoder"]):

        def look_back(x: Any, block: Weights, number: int = number) -> Any:
            keys = _append(state.keys, number, at, project(x, block, "k"))
            values = _append(state.values, number, at, project(x, block, "v"))
            query = split_heads(project(x, block, "q"), heads)
            key, value = split_heads(keys, heads), split_heads(values, heads)
            found = attend(query, key, value, block, observe=observe)
            return found if observe is not None else (found, None)

        def look_across(x: Any, block: Weights, number: int = number) -> Any:
            side_by_side = x.reshape((sentences, beam, x.shape[-1]))
            query = split_heads(project(side_by_side, block, "q"), heads)
            key = split_heads(state.cross_keys[number], heads)
            value = split_heads(state.cross_values[number], heads)
            found = attend(query, key, value, block, mask=mask, observe=observe)
            found, seen = found if observe is not None else (found, None)
            return found.reshape(x.shape), seen

        x, back, across = decoder_layer(x, layer, config, look_back, look_across)
        seen_self.append(back)
        seen_cross.append(across)
    state.position += 1
    hidden = layer_norm(x, weights["decoder_norm"]).reshape((sentences, beam, -1))
    return hidden if observe is None else (hidden, seen_self, seen_cross)


def choose(state: Decoding, sentences: Any, parents: Any) -> None:
    """Keeps some sentences, and of each the chosen hypotheses in their new order.

    Caches move with their hypotheses: row k of a sentence goes on from what row ``parents[k]`` has
    read. The number of hypotheses may change.

    Args:
        state: it is changed.
        sentences: (b,) which to keep, in order.
        parents: (b, k) which hypothesis of the sentence each new one continues.
    """
    before = state.sentences
    if not state.keys:
        return
    beam = state.keys[0].shape[0] // before
    rows = (np.asarray(sentences)[:, None] * beam + np.asarray(parents)).reshape(-1)
    if len(rows) != before * beam or (rows != np.arange(len(rows))).any():
        state.keys = [_taken(x, rows, state.position) for x in state.keys]
        state.values = [_taken(x, rows, state.position) for x in state.values]
    if len(sentences) != before or (np.asarray(sentences) != np.arange(before)).any():
        state.cross_keys = [_taken(x, sentences) for x in state.cross_keys]
        state.cross_values = [_taken(x, sentences) for x in state.cross_values]
        if state.memory_lengths is not None:
            state.memory_lengths = _taken(state.memory_lengths, sentences)


def _append(caches: list[Any], number: int, at: int, new: Any) -> Any:
    """Writes the new (R, 1, w) at its position; what is valid, (R, at + 1, w), as a view."""
    cache = caches[number]
    if at == cache.shape[1]:
        wider = _empty((cache.shape[0], 2 * at, cache.shape[2]), cache)
        wider[:, :at] = cache
        caches[number] = cache = wider
    cache[:, at] = new[:, 0]
    return cache[:, : at + 1]


def _taken(x: Any, rows: Any, valid: int | None = None) -> Any:
    """``x[rows]``; of a cache only the first ``valid`` positions are copied."""
    index = in_library_of(np.asarray(rows, np.int64), x)
    if valid is None:
        return namespace(x).take(x, index, axis=0)
    moved = _empty((len(rows), *x.shape[1:]), x)
    moved[:, :valid] = x[:, :valid][index]
    return moved


def _empty(shape: tuple[int, ...], like: Any) -> Any:
    if is_torch(like):
        return like.new_empty(shape)
    return np.empty(shape, like.dtype)
