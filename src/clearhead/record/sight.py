"""Who looks at whom in one part of a model: weights between pieces as weights between words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clearhead.core.observation import Observation
from clearhead.errors import ArgumentError, KindError
from clearhead.inputs.arrays import as_numpy
from clearhead.record.words import Words

__all__ = ["Sight"]


@dataclass(frozen=True, eq=False, repr=False)
class Sight:
    """Who looks at whom in one part of a model, an Observation for every layer.

    Attributes:
        kind: "encoder", or "cross" (the translation looks at the sentence).
        queries: the words that look.
        keys: the words they look at.
        observations: one a layer, with ``weights`` (heads, N, M) of the pieces.
    """

    kind: str
    queries: Words
    keys: Words
    observations: tuple[Observation, ...]

    @property
    def heads(self) -> int:
        """How many heads each layer has."""
        return int(self.observations[0].visible.shape[0]) if self.observations else 0

    @cached_property
    def weights(self) -> Any:
        """Weights between words, (layers, heads, words, words).

        Sum over the key's pieces and mean over the query's, not renormalised without the special
        pieces: see :attr:`special`, :attr:`blank`.
        """
        seen = [self.queries.join(self._rows(layer), self.keys) for layer in self._layers]
        return np.stack(seen) if seen else np.zeros((0, 0, len(self.queries), len(self.keys)))

    @cached_property
    def special(self) -> Any:
        """The mass that special pieces took of each word's, (layers, heads, words)."""
        return self._taken([piece.span is None for piece in self.keys.pieces])

    @cached_property
    def blank(self) -> Any:
        """The mass that pieces between the words took (spaces that stand alone)."""
        parts = self.keys.parts.sum(0)
        pieces = enumerate(self.keys.pieces)
        return self._taken([piece.span is not None and not parts[i] for i, piece in pieces])

    def links(
        self, word: str | int | None = None, layer: int | None = None, head: int | None = None
    ) -> list[dict[str, Any]]:
        """For each word and head its strongest link to another word, strongest first.

        Args:
            word: only links from this one, "it", "it:2" or an index; None is all.
            layer, head: only these, from 0; None is all.

        Returns:
            dictionaries with from, from_index, to, to_index, layer, head, weight and kind. A word
            that may look at nothing, or has no other word beside it, has no link.
        """
        _check_place(self, layer, head)
        rows = range(len(self.queries)) if word is None else self.queries.find(word)
        if not len(self.keys):
            return []
        (weights, targets), looks = self._strongest, self._looks
        found = [
            {
                "from": self.queries.names[i],
                "from_index": i,
                "to": self.keys.names[j],
                "to_index": int(j),
                "layer": at,
                "head": h,
                "weight": round(float(weights[at, h, i]), 6),
                "kind": self.kind,
            }
            for at in (self._layers if layer is None else [layer])
            for h in (range(self.heads) if head is None else [head])
            for i in rows
            if looks[at][h, i] and targets[at, h, i] >= 0
            for j in [targets[at, h, i]]
        ]
        return sorted(found, key=lambda link: -link["weight"])

    @property
    def _layers(self) -> range:
        return range(len(self.observations))

    @cached_property
    def _looks(self) -> list[Any]:
        """For each layer whether a word may look at anything, (heads, words), by the mask alone."""
        seen = [as_numpy(one.visible).astype(np.float32) for one in self.observations]
        return [self.queries.mean(each[..., None])[..., 0] > 0 for each in seen]

    @cached_property
    def _strongest(self) -> tuple[Any, Any]:
        """Of each layer, head and word, the weight of its strongest link and where it leads."""
        weights = np.zeros(self.weights.shape[:-1], self.weights.dtype)
        targets = np.zeros(weights.shape, np.int64)
        for layer, between in enumerate(self.weights):
            others = between.copy()
            if self.kind == "encoder":  # a word beside itself is no link
                own = np.arange(len(self.queries))
                others[..., own, own] = -1
            targets[layer] = others.argmax(-1)
            best = np.take_along_axis(others, targets[layer][..., None], -1)[..., 0]
            weights[layer] = best
            targets[layer][best < 0] = -1  # there is no other word
        return weights, targets

    def _rows(self, layer: int) -> Any:
        held = self.observations[layer].weights
        if held is None:
            raise ArgumentError(
                f"observations: those of layer {layer} hold no weights; "
                "look again with Observe(weights=True)"
            )
        return held

    def _taken(self, keys: list[bool]) -> Any:
        seen = [self.queries.mean(self._rows(layer)[..., keys]).sum(-1) for layer in self._layers]
        return np.stack(seen) if seen else np.zeros((0, 0, len(self.queries)))


def _check_place(sight: Sight, layer: int | None, head: int | None) -> None:
    """Raises ArgumentError where there is no such layer or head, KindError for no number."""
    for name, found, count in (
        ("layer", layer, len(sight.observations)),
        ("head", head, sight.heads),
    ):
        if found is None:
            continue
        if isinstance(found, bool) or not hasattr(found, "__index__"):
            raise KindError(f"{name}: found {found!r}; wanted a whole number, 0 … {count - 1}")
        if not 0 <= found < count:
            raise ArgumentError(f"{name}: found {found}; wanted 0 … {count - 1}")
