"""What a model saw in a sentence: words, and who looks at whom, by layer and head.

A record holds plain data and no model, so that a view can draw it anywhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.core.observation import Observation
from clearhead.errors import ArgumentError
from clearhead.record.words import Piece, Words

__all__ = ["Record", "Sight"]


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
        """Weights between words, (layers, heads, words, words), float64.

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
        check_place(self, layer, head)
        rows = range(len(self.queries)) if word is None else self.queries.find(word)
        if not len(self.keys):
            return []
        weights, targets = self._strongest
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
            if weights[at, h, i] > 0
            for j in [targets[at, h, i]]
        ]
        return sorted(found, key=lambda link: -link["weight"])

    @property
    def _layers(self) -> range:
        return range(len(self.observations))

    @cached_property
    def _strongest(self) -> tuple[Any, Any]:
        others = self.weights.copy()
        if self.kind == "encoder":  # a word beside itself is no link
            others[..., np.arange(len(self.queries)), np.arange(len(self.queries))] = -1
        targets = others.argmax(-1)
        return np.take_along_axis(others, targets[..., None], -1)[..., 0], targets

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


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """A sentence, its translation if there is one, and what each word looked at.

    Attributes:
        encoder: who looks at whom among the words of the sentence.
        guided: the heads of the encoder that training pulled to marked antecedents, as
            (layer, head); every other is as it grew.
        translation: None for a model that does not translate.
        language: of the translation, "fr" or "de".
        cross: what the words of the translation looked at; None where not asked for.

    Example:
        >>> eye = Observation(visible=np.ones((1, 2), bool), weights=np.eye(2)[None, ::-1])
        >>> said = Words("Hello world", (Piece("Hello", (0, 5)), Piece(" world", (5, 11))))
        >>> record = Record(Sight("encoder", said, said, (eye,)))
        >>> record
        Record('Hello world', 2 words, 1 layer of 1 head)
        >>> record.links("Hello")[0]["to"]
        'world'
    """

    encoder: Sight
    guided: tuple[tuple[int, int], ...] = ()
    translation: str | None = None
    language: str | None = None
    cross: Sight | None = None

    @property
    def sentence(self) -> str:
        """The text that was read."""
        return self.encoder.queries.sentence

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the sentence: "didn't" is one, "." is one."""
        return self.encoder.queries.names

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words, by the name they have in JSON."""
        return self.words

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What the model read, piece by piece, with the characters each stands for."""
        return self.encoder.queries.pieces

    @property
    def observations(self) -> tuple[Observation, ...]:
        """One Observation for every layer of the encoder, (heads, N, M) of the pieces."""
        return self.encoder.observations

    @property
    def layers(self) -> int:
        """How many layers the encoder has."""
        return len(self.encoder.observations)

    @property
    def heads(self) -> int:
        """How many heads each of them has."""
        return self.encoder.heads

    def links(
        self, word: str | int | None = None, layer: int | None = None, head: int | None = None
    ) -> list[dict[str, Any]]:
        """For each word and head its strongest link to another word: see :meth:`Sight.links`."""
        return self.encoder.links(word, layer, head)

    def to_dict(
        self, words: Any = None, layer: int | None = None, head: int | None = None
    ) -> dict[str, Any]:
        """The record as JSON has it; ``words``, ``layer`` and ``head`` narrow the links."""
        found: dict[str, Any] = {
            "sentence": self.sentence,
            "translation": self.translation,
            "language": self.language,
            "tokens": list(self.words),
            "layers": self.layers,
            "heads": self.heads,
            "guided": [list(place) for place in self.guided],
            "links": self._narrowed(words, layer, head),
        }
        if self.cross is not None:
            found["cross"] = self.cross.links()
        return found

    def to_json(self, words: Any = None, layer: int | None = None, head: int | None = None) -> str:
        """:meth:`to_dict` as text, each entry and each link on a line of its own."""
        return "{\n" + ",\n".join(_entries(self.to_dict(words, layer, head))) + "\n}\n"

    def save(self, path: str | Path) -> None:
        """Writes the record to a file; the ending says how. So far there is ``.json``.

        Raises:
            ArgumentError: another ending.
            OSError: the file cannot be written.
        """
        path = Path(path)
        if path.suffix.lower() != ".json":
            raise ArgumentError(
                f"path: found {path.name!r}; wanted a name that ends in .json, the one format "
                f"that can be written so far: record.save({path.stem + '.json'!r})"
            )
        path.write_text(self.to_json(), encoding="utf-8")

    def show(
        self, word: str | int | None = None, layer: int | None = None, head: int | None = None
    ) -> None:
        """Prints where each word looks, as ``clearhead "sentence"`` does."""
        # By name: the view stands behind this stage, and is loaded when there is something to show.
        view = import_module("clearhead.view.terminal")
        view.show(self, words=None if word is None else [word], layer=layer, head=head)

    def __repr__(self) -> str:
        size = f"{_many(self.layers, 'layer')} of {_many(self.heads, 'head')}"
        return f"Record({_short(self.sentence)!r}, {_many(len(self.words), 'word')}, {size})"

    def _narrowed(self, words: Any, layer: int | None, head: int | None) -> list[dict[str, Any]]:
        if words is None:
            return self.links(None, layer, head)
        chosen = {i for word in words for i in self.encoder.queries.find(word)}
        return [link for link in self.links(None, layer, head) if link["from_index"] in chosen]


def check_place(sight: Sight, layer: int | None, head: int | None) -> None:
    """Raises ArgumentError where there is no such layer or head."""
    for name, found, count in (
        ("layer", layer, len(sight.observations)),
        ("head", head, sight.heads),
    ):
        if found is not None and not 0 <= found < count:
            raise ArgumentError(f"{name}: found {found}; wanted 0 … {count - 1}")


def _entries(held: dict[str, Any]) -> list[str]:
    lines = []
    for name, value in held.items():
        if name in ("links", "cross") and value:
            inner = ",\n".join("    " + json.dumps(link, ensure_ascii=False) for link in value)
            lines.append(f'  "{name}": [\n{inner}\n  ]')
        else:
            lines.append(f'  "{name}": {json.dumps(value, ensure_ascii=False)}')
    return lines


def _many(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
