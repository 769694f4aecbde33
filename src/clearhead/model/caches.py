"""What decoding keeps between two pieces, in storage that is used again.

B sentences, K hypotheses of each (the beam), R = B · K rows, S source positions, w the width.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearhead.inputs.arrays import in_library_of, is_torch
from clearhead.inputs.masks import Mask
from clearhead.inputs.masks import lengths as up_to

__all__ = ["Decoding", "appended", "choose"]

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
        spare: NumPy storage that is free: the system takes longer to hand out new pages than to
            fill them, so scores and caches that move are written where others were before.
    """

    position: int
    keys: list[Any]
    values: list[Any]
    cross_keys: list[Any]
    cross_values: list[Any]
    memory_lengths: Any
    spare: dict[str, Any] = field(default_factory=dict)

    @property
    def sentences(self) -> int:
        """B."""
        return int(self.cross_keys[0].shape[0]) if self.cross_keys else 0

    @property
    def mask(self) -> Mask | None:
        """What the hypotheses may see of the memory."""
        return None if self.memory_lengths is None else up_to(keys=self.memory_lengths)

    @classmethod
    def begun(cls, weights: Weights, sentences: int, positions: int) -> Decoding:
        """The state of sentences of which nothing is read yet."""
        table = weights["embedding"]
        width, layers = table.shape[1], range(len(weights["decoder"]))
        room, memory = (sentences, _FIRST_ROOM, width), (sentences, positions, width)
        return cls(
            position=0,
            keys=[_empty(room, table) for _ in layers],
            values=[_empty(room, table) for _ in layers],
            cross_keys=[_empty(memory, table) for _ in layers],
            cross_values=[_empty(memory, table) for _ in layers],
            memory_lengths=None,
        )

    def room(self, name: str, shape: tuple[int, ...], like: Any) -> Any:
        """An array that is not filled, in the storage of that name; it grows as it must."""
        size = math.prod(shape)
        if name not in self.spare or self.spare[name].size < size:
            self.spare[name] = np.empty(size, like.dtype)
        return self.spare[name][:size].reshape(shape)

    def take(self, name: str, caches: list[Any], rows: Any) -> None:
        """``x[rows]`` of every cache, each written where the one before it has been."""
        for number, x in enumerate(caches):
            if is_torch(x):
                caches[number] = x[in_library_of(rows, x)]
                continue
            caches[number] = self.room(name, (len(rows), *x.shape[1:]), x)
            np.take(x, rows, axis=0, out=caches[number], mode="clip")  # "raise" copies once more
            self.spare[name] = (x if x.base is None else x.base).reshape(-1)


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
        for caches in (state.keys, state.values):
            state.take("caches", caches, rows)
    if len(sentences) != before or (np.asarray(sentences) != np.arange(before)).any():
        kept = np.asarray(sentences, np.int64)
        for caches in (state.cross_keys, state.cross_values):
            state.take("memory", caches, kept)
        if state.memory_lengths is not None:
            state.memory_lengths = state.memory_lengths[in_library_of(kept, state.memory_lengths)]


def appended(caches: list[Any], number: int, at: int, new: Any) -> Any:
    """Writes the new (R, w) at its position; what is valid, (R, at + 1, w), as a view."""
    cache = caches[number]
    if at == cache.shape[1]:
        wider = _empty((cache.shape[0], 2 * at, cache.shape[2]), cache)
        wider[:, :at] = cache
        caches[number] = cache = wider
    cache[:, at] = new
    return cache[:, : at + 1]


def _empty(shape: tuple[int, ...], like: Any) -> Any:
    if is_torch(like):
        return like.new_empty(shape)
    return np.empty(shape, like.dtype)
