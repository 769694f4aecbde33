"""A translation model with its vocabulary: text in what the model reads, and what a caller gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from clearhead.errors import ArgumentError, KindError, TextError
from clearhead.model.config import TranslationConfig
from clearhead.model.encoded import Encoded, check_unicode
from clearhead.model.hypotheses import Pieces, Search
from clearhead.model.splitting import LONGEST
from clearhead.model.vocabulary import Vocabulary
from clearhead.model.word_pieces import carrying_on

__all__ = ["TextModel", "checked_options", "checked_texts", "spaced"]


class TextModel:
    """Weights, their sizes, and the vocabulary that makes pieces of text.

    Args:
        config, vocabulary: of the model.
        weights: the tree of arrays that :mod:`clearhead.model.translation` describes.

    Attributes:
        pieces: what the special pieces are, for a search.

    Example:
        >>> from clearhead.model.fresh import random_weights
        >>> words = Vocabulary.learn(["the cat sat"] * 99, size=300, languages=("fr", "de"))
        >>> config = TranslationConfig(vocabulary=words.size, width=8, heads=2)
        >>> model = TextModel(config, words, random_weights(config))
        >>> source = model.encode("  the  cat ")
        >>> words.decode(model.row(source)), words.decode(model.target("the 猫", source))
        ('the cat', 'the 猫')
    """

    def __init__(
        self, config: TranslationConfig, vocabulary: Vocabulary, weights: Mapping[str, Any]
    ) -> None:
        self.config, self.vocabulary, self.weights = config, vocabulary, weights
        self.pieces = Pieces(
            end=vocabulary.end,
            pad=vocabulary.pad,
            special=vocabulary.special,
            slots=tuple(vocabulary.slots),
            blank=vocabulary.blank(),
            digits=vocabulary.digits(),
        )

    @cached_property
    def carrying_on(self) -> Any:
        """Which pieces carry on the word that they stand after, (V,) bool."""
        return carrying_on(self.vocabulary)

    def language(self, to: str) -> int:
        """The piece that begins a translation into ``to``.

        Raises:
            ArgumentError: a language the model does not have.
        """
        if to not in self.config.languages:
            raise ArgumentError(
                f"to: found {to!r}; wanted {' or '.join(self.config.languages)}, as this model has"
            )
        return self.vocabulary.language(to)

    def encode(self, text: str) -> Encoded:
        """A line in pieces as the model reads it, without the end: white space as one space."""
        return self.vocabulary.source.encode(spaced(text))

    def row(self, source: Encoded) -> list[int]:
        """The pieces of a source, the end included."""
        return [*source.ids, self.vocabulary.source.end]

    def target(self, text: str, source: Encoded) -> list[int]:
        """A translation in pieces, without language and end; none for a blank one."""
        text = spaced(text)
        return self.vocabulary.encode(text, slots=source.slots).ids if text else []

    def checked_pair(self, text: str, translation: str) -> tuple[Encoded, list[int]]:
        """A source and its translation in pieces.

        Raises:
            TextError: a lone surrogate, or more than 512 pieces on a side, the end included.
        """
        check_unicode(translation)
        source = self.encode(text)
        ids = self.target(translation, source)
        for name, pieces in (("source", source.ids), ("target", ids)):
            if len(pieces) >= LONGEST:
                raise TextError(
                    f"{name}: found {len(pieces) + 1} pieces; wanted at most {LONGEST}; "
                    "take it sentence by sentence"
                )
        return source, ids


def spaced(text: str) -> str:
    """White space as one space, and none around."""
    return " ".join(text.split())


def checked_texts(texts: Any, name: str = "text") -> list[str]:
    """Texts that a caller gave, as a list.

    Raises:
        KindError: it is no list of texts.
        TextError: one holds a lone surrogate.
    """
    if isinstance(texts, str):
        raise KindError(f"{name}: found one text; wanted a list of them")
    if isinstance(texts, bytes) or not isinstance(texts, Sequence):
        raise KindError(f"{name}: found {type(texts).__name__}; wanted str, or a list of them")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise KindError(f"{name} {number}: found {type(text).__name__}; wanted str")
        check_unicode(text)
    return list(texts)


def checked_options(options: Mapping[str, Any]) -> Search:
    """The search that a caller asked for.

    Raises:
        ArgumentError: an option that there is not, or a number that cannot be meant.
    """
    try:
        return Search(**options)
    except TypeError as error:
        wanted = ", ".join(Search.__dataclass_fields__)
        raise ArgumentError(f"options: {error}; wanted those of Search: {wanted}") from None
