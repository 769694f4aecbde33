"""A source read by a BERT-type encoder first: its pieces, and its states as a translator's input.

The states of the first, the middle and the last layer stand side by side, (B, S, 3 · width of that
encoder), and a learnt matrix, ``bridge``, maps them to the translator's width. They hold positions
already. Peters et al. 2018 ("Deep contextualized word representations") mix layers for the same
reason: the first still knows the word, the last its place in the sentence.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any

from tokenizers import Tokenizer

from clearhead.errors import ModelError
from clearhead.inputs.arrays import namespace
from clearhead.model.bert import BertConfig, bert_states
from clearhead.model.encoded import Encoded, check_unicode

__all__ = ["LEAST_POSITIONS", "SourcePieces", "source_states", "source_width"]

LEAST_POSITIONS = 512
"""Positions that such an encoder must have: a translator reads up to as many pieces."""


class SourcePieces:
    """The pieces of a BERT-type encoder, used as a :class:`Vocabulary` is for a source.

    Args:
        tokenizer: the content of a ``tokenizer.json``.

    Attributes:
        begin, end: the special pieces around a sentence, [CLS] and [SEP].
        pad: the padding piece.

    Raises:
        ModelError: it is no tokenizer, or sets other special pieces around a sentence.
    """

    def __init__(self, tokenizer: str) -> None:
        try:
            self._tokenizer = Tokenizer.from_str(tokenizer)
        except Exception as error:  # tokenizers raises bare Exceptions
            raise ModelError(f"the source's tokenizer cannot be read: {error}") from None
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        around = self._tokenizer.encode("").ids
        if len(around) != 2:
            raise ModelError(
                f"the source's tokenizer sets {len(around)} special pieces around a sentence; "
                "wanted two, as [CLS] and [SEP]"
            )
        self.begin, self.end = around
        self.pad = 0

    def encode(self, text: str, *, also: Container[str] = ()) -> Encoded:
        """Cuts a sentence into pieces: [CLS] first, no [SEP]; nothing becomes a slot.

        Raises:
            TextError: the text holds a lone surrogate.
        """
        check_unicode(text)
        found = self._tokenizer.encode(text)
        return Encoded(found.ids[:-1], found.offsets[:-1])

    def piece(self, piece: int) -> str:
        """The name of a piece."""
        return self._tokenizer.id_to_token(piece) or ""

    def to_json(self) -> Any:
        """What :class:`SourcePieces` can be made of again, as JSON holds it."""
        return json.loads(self._tokenizer.to_str())


def source_width(config: BertConfig) -> int:
    """How wide the states are that :func:`source_states` gives."""
    return 3 * config.width


def source_states(
    weights: Mapping[str, Any], config: BertConfig, ids: Any, lengths: Any = None
) -> Any:
    """What a translator reads of a BERT-type encoder.

    Args:
        weights: the tree of :mod:`clearhead.model.bert`.
        config: its sizes.
        ids: (B, S) its pieces, padded on the right.
        lengths: (B,) how many of them count; None is all.

    Returns:
        (B, S, 3 · width): the states of the first, the middle and the last layer, side by side.
    """
    states = bert_states(weights, config, ids, lengths)
    chosen = [states[0], states[config.layers // 2], states[-1]]
    return namespace(states[0]).concat(chosen, axis=-1)
