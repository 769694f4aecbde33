"""One way to ask any model of this house what it reads, and what its heads look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.core.observation import Observation, Observe
from clearhead.errors import ArgumentError, ModelError, TextError
from clearhead.layer.norm import layer_norm
from clearhead.model.encoded import check_unicode
from clearhead.model.files import read_json
from clearhead.model.words import words
from clearhead.record.words import Piece

__all__ = ["MOST_PIECES", "Reader", "reader_of"]

MOST_PIECES = 512
"""Pieces of the longest sentence that is looked into; all weights of all heads are kept."""


class Reader(ABC):
    """A model's encoder, seen from here; :func:`reader_of` makes one.

    Attributes:
        model: the model itself.
        layers, heads: of the encoder.
        guided: heads that training pulled to marked antecedents, as (layer, head).
    """

    model: Any
    layers: int
    heads: int
    guided: tuple[tuple[int, int], ...] = ()

    @abstractmethod
    def cut(self, text: str) -> tuple[list[int], tuple[Piece, ...]]:
        """The sentence in pieces: their ids, and what each stands for."""

    @abstractmethod
    def observations(self, ids: list[int], observe: Observe) -> tuple[Observation, ...]:
        """One Observation for every layer, without the axis of sentences: (heads, …)."""

    @abstractmethod
    def attention_of(self, ids: list[int], layer: int) -> tuple[Any, Any]:
        """What enters the attention of a layer, (1, N, width), and its weights by name."""

    def checked(self, text: Any) -> tuple[list[int], tuple[Piece, ...]]:
        """:meth:`cut`, once the sentence is one that can be looked into.

        Raises:
            TextError: it is empty, too long, or no valid Unicode.
        """
        if not isinstance(text, str):
            raise ArgumentError(f"text: found {type(text).__name__}; wanted a sentence")
        check_unicode(text)
        if not text.strip():
            raise TextError("the sentence is empty; give one with at least one word")
        if len(text) > 100 * MOST_PIECES:  # cutting up a whole book only to refuse it takes seconds
            raise _too_long(f"{len(text)} characters")
        marks = len(words(text))  # a word that is carried over is one piece and may be many marks
        if marks > MOST_PIECES:
            raise _too_long(f"{marks} words and marks")
        ids, pieces = self.cut(text)
        if len(ids) > MOST_PIECES:
            raise _too_long(f"{len(ids)} pieces")
        return ids, pieces


class TranslatorReader(Reader):
    """Reads with the encoder of a translator."""

    def __init__(self, translator: Any) -> None:
        config = translator.config
        self.model, self.layers, self.heads = translator, config.encoder_layers, config.heads
        self.guided = config.guided

    def cut(self, text: str) -> tuple[list[int], tuple[Piece, ...]]:
        """The pieces as the translator reads them, white space as one space, and the end mark."""
        source = self.model.vocabulary.source  # the vocabulary, or that of an encoder in front
        found = self.model.encode(text)
        at = _without_spaces(text)
        pieces = []
        for piece, (a, b) in zip(found.ids, found.spans, strict=True):
            span = (at[a], at[b - 1] + 1) if a < b else (at[a], at[a])
            special = piece == getattr(source, "begin", None)
            pieces.append(Piece(source.piece(piece), None if special else span))
        end = Piece(source.piece(source.end))
        return [*found.ids, source.end], (*pieces, end)

    def observations(self, ids: list[int], observe: Observe) -> tuple[Observation, ...]:
        """See :meth:`Reader.observations`."""
        from clearhead.model.translation import encode

        model = self.model
        _, seen = encode(model.weights, model.config, np.array([ids]), observe=observe)
        return tuple(one_of(observation) for observation in seen)

    def attention_of(self, ids: list[int], layer: int) -> tuple[Any, Any]:
        """The state before the layer, normalised, as the layer does before it attends."""
        from clearhead.model.translation import encode_states

        weights = self.model.weights
        held = weights["encoder"][layer]
        state = encode_states(weights, self.model.config, np.array([ids]))[layer]
        return layer_norm(state, held["norm_attention"]), held["attention"]


class EncoderReader(Reader):
    """Reads with a BERT-type encoder."""

    def __init__(self, encoder: Any) -> None:
        config = encoder.config
        self.model, self.layers, self.heads = encoder, config.layers, config.heads

    def cut(self, text: str) -> tuple[list[int], tuple[Piece, ...]]:
        """The pieces, with the special ones that the tokenizer sets around them."""
        found = self.model.tokens(text)
        named = zip(found.pieces, found.spans, found.special, strict=True)
        return found.ids, tuple(Piece(n, None if special else span) for n, span, special in named)

    def observations(self, ids: list[int], observe: Observe) -> tuple[Observation, ...]:
        """See :meth:`Reader.observations`."""
        from clearhead.model.bert import bert_states

        model = self.model
        _, seen = bert_states(model.weights, model.config, np.array([ids]), observe=observe)
        return tuple(one_of(observation) for observation in seen)

    def attention_of(self, ids: list[int], layer: int) -> tuple[Any, Any]:
        """The state before the layer as it is: such a model normalises afterwards."""
        from clearhead.model.bert import bert_states

        model = self.model
        states = bert_states(model.weights, model.config, np.array([ids]))
        return states[layer], model.weights["layers"][layer]["attention"]


def reader_of(model: Any = None) -> Reader:
    """The reader of a model.

    Args:
        model: a translator, a BERT-type encoder, or the folder of either; None is the bundled
            translator.

    Raises:
        ModelError: a folder that holds neither.
        ArgumentError: anything else.
    """
    if isinstance(model, Reader):
        return model
    if model is None or isinstance(model, str | Path):
        model = _load(None if model is None else Path(model))
    if hasattr(model, "translate") and hasattr(model, "vocabulary"):
        return TranslatorReader(model)
    if hasattr(model, "tokens") and hasattr(model, "encode"):
        return EncoderReader(model)
    raise ArgumentError(
        f"model: found {type(model).__name__}; wanted a translator, an encoder, or the folder of "
        "one, for example clearhead.load_translator()"
    )


def one_of(seen: Observation) -> Observation:
    """The Observation of the only sentence of a batch: every field without its first axis."""
    fields = {name: value for name, value in vars(seen).items() if value is not None}
    return Observation(**{name: value[0] for name, value in fields.items()})


def _without_spaces(text: str) -> list[int]:
    """Where each character of ``" ".join(text.split())``, and its end, stands in ``text``."""
    at: list[int] = []
    for i, character in enumerate(text):
        if not character.isspace():
            if i and at and text[i - 1].isspace():
                at.append(i - 1)
            at.append(i)
    return [*at, len(text)]


def _load(folder: Path | None) -> Any:
    if folder is None or _kind(folder) != "bert":
        from clearhead.model.translator import load_translator

        return load_translator(folder)
    from clearhead.model.bert_encoder import load_encoder

    return load_encoder(folder)


def _kind(folder: Path) -> Any:
    """The ``model_type`` in the folder's config."""
    if not folder.is_dir():
        raise ModelError(f"{folder} is no folder; wanted one with config.json and its weights")
    config = read_json(folder / "config.json")
    return config.get("model_type") if isinstance(config, dict) else None


def _too_long(found: str) -> TextError:
    return TextError(
        f"the sentence has {found}; at most {MOST_PIECES} pieces can be looked into: give one "
        "sentence of it (clearhead translate takes text of any length)"
    )
