"""``BertEncoder``: a BERT-type encoder with its tokenizer, from sentences to hidden states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from clearhead.core.observation import Observation, Observe
from clearhead.errors import ModelError, TextError
from clearhead.model.bert import BertConfig, bert_states
from clearhead.model.checkpoint_folder import read_checkpoint
from clearhead.model.encoded import check_unicode
from clearhead.model.files import folder_path

__all__ = ["BertEncoder", "HiddenStates", "Pieces", "load_encoder"]


@dataclass(frozen=True)
class Pieces:
    """A sentence in pieces, special ones ([CLS], [SEP]) included.

    Attributes:
        ids: numbers in the vocabulary.
        pieces: their names.
        spans: for every piece, the characters [from, to) of the sentence; (0, 0) for special ones.
        special: for every piece, whether the tokenizer added it.
    """

    ids: list[int]
    pieces: list[str]
    spans: list[tuple[int, int]]
    special: list[bool]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """What a BERT-type encoder made of B sentences, padded to S pieces.

    Attributes:
        last: (B, S, width) what leaves the last layer.
        layers: ``layers + 1`` arrays (B, S, width): the embeddings, and what leaves each layer.
        lengths: (B,) pieces of every sentence; what lies beyond is padding.
        tokens: the sentences in pieces.
        seen: one Observation a layer, of (B, heads, …); None where nothing was asked.
    """

    last: Any
    layers: list[Any]
    lengths: Any
    tokens: list[Pieces]
    seen: list[Observation] | None = None


class BertEncoder:
    """A BERT-type encoder: sentences in, hidden states out, and what every head looked at.

    Args:
        config: the sizes.
        weights: the tree of :mod:`clearhead.model.bert`.
        tokenizer: of the ``tokenizers`` library; its own padding and truncation are switched off.

    Raises:
        ModelError: the tokenizer knows more pieces than the model.
    """

    def __init__(
        self, config: BertConfig, weights: Mapping[str, Any], tokenizer: Tokenizer
    ) -> None:
        most = max(tokenizer.get_vocab().values(), default=-1)
        if most >= config.vocabulary:
            raise ModelError(
                f"the tokenizer has a piece {most}, the model has {config.vocabulary} pieces: "
                "they do not belong together"
            )
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.config, self.weights, self._tokenizer = config, weights, tokenizer

    def tokens(self, text: str) -> Pieces:
        """Cuts a sentence into pieces.

        Raises:
            TextError: it has more pieces than the model has positions, or is not valid Unicode.
        """
        check_unicode(text)
        found = self._tokenizer.encode(text)
        if len(found.ids) > self.config.positions:
            raise TextError(
                f"the sentence has {len(found.ids)} pieces; this model reads at most "
                f"{self.config.positions}: shorten it, or cut it in two"
            )
        special = [bool(flag) for flag in found.special_tokens_mask]
        return Pieces(found.ids, found.tokens, found.offsets, special)

    def encode(self, texts: str | Sequence[str], *, observe: Observe | None = None) -> HiddenStates:
        """Reads sentences, all at once; padding is never looked at.

        Args:
            texts: one sentence, or several.
            observe: what to observe in every layer.

        Raises:
            TextError: a sentence is too long, or is not valid Unicode.
        """
        tokens = [self.tokens(text) for text in ([texts] if isinstance(texts, str) else texts)]
        lengths = np.array([len(item) for item in tokens], np.int64)
        ids = np.zeros((len(tokens), max(lengths, default=0)), np.int64)
        for row, item in zip(ids, tokens, strict=True):
            row[: len(item)] = item.ids
        found = bert_states(self.weights, self.config, ids, lengths, observe=observe)
        layers, seen = (found, None) if observe is None else found
        return HiddenStates(layers[-1], layers, lengths, tokens, seen)

    def __call__(self, texts: str | Sequence[str], observe: Observe | None = None) -> HiddenStates:
        """The same as :meth:`encode`."""
        return self.encode(texts, observe=observe)

    def observe(self, text: str, observe: Observe) -> list[Observation]:
        """What the heads of every layer look at in one sentence: (1, heads, …) each."""
        return self.encode(text, observe=observe).seen or []

    def __repr__(self) -> str:
        c = self.config
        return f"BertEncoder(layers={c.layers}, heads={c.heads}, width={c.width})"


def load_encoder(folder: str | Path) -> BertEncoder:
    """Loads a Hugging Face checkpoint folder of a BERT-type encoder; no torch, no transformers.

    Args:
        folder: holds ``config.json``, ``model.safetensors`` and ``tokenizer.json``.

    Raises:
        ModelError: the folder holds no such model; the message says what is missing or odd.
        KindError: ``folder`` is no path.
    """
    folder = folder_path(folder)
    config, weights = read_checkpoint(folder)
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise ModelError(
            f"{folder} holds no {path.name}; save the tokenizer again as a fast tokenizer"
        )
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exceptions
        raise ModelError(f"{path} holds no tokenizer: {error}") from error
    return BertEncoder(config, weights, tokenizer)
