"""Decoding piece by piece: what was computed for earlier pieces is kept and not computed again.

The memory's keys and values are projected once, and shared by all hypotheses of a sentence: these
stand beside each other as queries of one attention. B sentences, K hypotheses of each (the beam),
R = B · K rows, S source positions, w the width.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearhead.core.observation import Observe
from clearhead.errors import ArgumentError
from clearhead.inputs.arrays import in_library_of, is_torch
from clearhead.layer.heads import attend, project, split_heads
from clearhead.layer.norm import layer_norm
from clearhead.model.caches import Decoding, appended
from clearhead.model.config import TranslationConfig
from clearhead.model.translation import decoder_layer, encode, logits, place

__all__ = ["next_scores", "read", "start", "step"]

Weights = Mapping[str, Any]
_READ_AT_ONCE = 512  # source positions: what a layer makes of them stays in the caches


def start(
    weights: Weights, config: TranslationConfig, memory: Any, memory_lengths: Any = None
) -> Decoding:
    """The state before the first piece, with one hypothesis a sentence.

    Args:
        weights, config: of the model.
        memory: (B, S, w) what :func:`clearhead.model.translation.encode` returned.
        memory_lengths: (B,) source pieces that count; None is all.
    """
    state = Decoding.begun(weights, memory.shape[0], memory.shape[1])
    state.memory_lengths = memory_lengths
    _read_memory(weights, state, memory, 0)
    return state


def read(weights: Weights, config: TranslationConfig, ids: Any, lengths: Any) -> Decoding:
    """The state before the first piece, from the sources themselves: encodes them and starts.

    A few are read at a time, no wider than the longest of them; nothing of it depends on that but
    rounding.

    Args:
        weights, config: of the model.
        ids: (B, S) source pieces, padded on the right; NumPy, whatever the weights are.
        lengths: (B,) how many of them count; NumPy.
    """
    table = weights["embedding"]
    state = Decoding.begun(weights, *ids.shape)
    if (lengths < ids.shape[1]).any():
        state.memory_lengths = in_library_of(lengths, table)
    at = 0
    while at < len(ids):
        widths = np.maximum.accumulate(lengths[at : at + _READ_AT_ONCE])
        fitting = np.count_nonzero(widths * np.arange(1, len(widths) + 1) <= _READ_AT_ONCE)
        end = at + max(1, int(fitting))
        here, longest = lengths[at:end], int(lengths[at:end].max())
        part = in_library_of(ids[at:end, :longest], table)
        padded = in_library_of(here, table) if (here < longest).any() else None
        _read_memory(weights, state, encode(weights, config, part, padded), at)
        at = end
    return state


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
    rows, at, heads, width = sentences * beam, state.position, config.heads, config.width
    if state.keys and (state.keys[0].shape[0], state.sentences) != (rows, sentences):
        raise ArgumentError(
            f"ids has shape {(sentences, beam)}; the state holds {state.keys[0].shape[0]} "
            f"hypotheses of {state.sentences} sentences: bring it along with choose()"
        )
    mask = state.mask
    x = place(ids.reshape((rows, 1)), weights, at).reshape((rows, width))
    seen_self, seen_cross = [], []
    for number, layer in enumerate(weights["decoder"]):

        def look_back(x: Any, block: Weights, number: int = number) -> Any:
            keys = appended(state.keys, number, at, project(x, block, "k"))
            values = appended(state.values, number, at, project(x, block, "v"))
            query = project(x, block, "q").reshape((rows, heads, 1, width // heads))
            key, value = split_heads(keys, heads), split_heads(values, heads)
            found = attend(query, key, value, block, observe=observe)
            found, seen = found if observe is not None else (found, None)
            return found.reshape((rows, width)), seen

        def look_across(x: Any, block: Weights, number: int = number) -> Any:
            side_by_side = project(x, block, "q").reshape((sentences, beam, width))
            query = split_heads(side_by_side, heads)
            key = split_heads(state.cross_keys[number], heads)
            value = split_heads(state.cross_values[number], heads)
            found = attend(query, key, value, block, mask=mask, observe=observe)
            found, seen = found if observe is not None else (found, None)
            return found.reshape((rows, width)), seen

        x, back, across = decoder_layer(x, layer, config, look_back, look_across)
        seen_self.append(back)
        seen_cross.append(across)
    state.position += 1
    hidden = layer_norm(x, weights["decoder_norm"]).reshape((sentences, beam, -1))
    return hidden if observe is None else (hidden, seen_self, seen_cross)


def next_scores(weights: Weights, hidden: Any, state: Decoding) -> Any:
    """Scores of every piece as the next one, (B, K, w) → (B · K, V): valid until the next call."""
    table = weights["embedding"]
    if is_torch(table):
        return logits(weights, hidden).reshape((-1, table.shape[0]))
    rows = hidden.reshape((-1, table.shape[1]))
    room = state.room("scores", (rows.shape[0], table.shape[0]), table)
    return np.matmul(rows, table.T, out=room)


def _read_memory(weights: Weights, state: Decoding, memory: Any, at: int) -> None:
    """Keys and values of the memory (b, s, w) of the sentences from ``at`` on."""
    rows, columns = slice(at, at + memory.shape[0]), slice(0, memory.shape[1])
    for number, layer in enumerate(weights["decoder"]):
        block = layer["cross_attention"]
        state.cross_keys[number][rows, columns] = project(memory, block, "k")
        state.cross_values[number][rows, columns] = project(memory, block, "v")
