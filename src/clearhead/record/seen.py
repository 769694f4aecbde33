"""What was seen in a sentence, as plain data: all that a view needs, and nothing that draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clearhead.core.observation import Observation
from clearhead.record.sight import Sight
from clearhead.record.words import Piece

__all__ = ["Seen"]


@dataclass(frozen=True, eq=False, repr=False)
class Seen:
    """A sentence, its translation if there is one, and what each word looked at.

    Attributes:
        encoder: who looks at whom among the words of the sentence.
        guided: the heads of the encoder that training pulled to marked antecedents, as
            (layer, head); every other is as it grew.
        translation: None for a model that does not translate.
        language: of the translation, "fr" or "de".
        cross: what the words of the translation looked at; None where not asked for.
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
