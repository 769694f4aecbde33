"""``look``: reads a sentence once, and keeps what every head looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearhead.core.observation import Observe
from clearhead.errors import ArgumentError
from clearhead.record.reading import Reader, TranslatorReader, one_of, reader_of
from clearhead.record.record import Record
from clearhead.record.sight import Sight
from clearhead.record.words import Piece, Words

__all__ = ["look"]


def look(
    text: str, model: Any = None, to: str | None = None, *, beam: int = 4, cross: bool = False
) -> Record:
    """Looks into a sentence: its translation, and which word looks at which in every head.

    Args:
        text: a sentence of at most 512 pieces.
        model: a translator, a BERT-type encoder, or the folder of either; the default is the
            bundled translator.
        to: language of the translation; the default is the model's first one, French for the
            bundled model. An encoder does not translate, and needs none.
        beam: width of the search for the translation; 1 is greedy.
        cross: whether to look, too, at what the words of the translation look at.

    Returns:
        a :class:`Record`.

    Raises:
        TextError: the sentence is empty, too long, or no valid Unicode.
        ModelError: a folder that holds no model, or a language it does not know.

    Example:
        >>> import clearhead as ch
        >>> record = ch.look("The animal didn't cross the street because it was too tired.")
        >>> record.words[:3], record.layers, record.heads
        (('The', 'animal', "didn't"), 4, 6)
        >>> record.links("it")[0]["from"]
        'it'
    """
    reader = reader_of(model)
    ids, pieces = reader.checked(text)
    language = _language(reader, to)
    said = Words(text, pieces)
    encoder = Sight("encoder", said, said, reader.observations(ids, Observe(weights=True)))
    if not isinstance(reader, TranslatorReader) or language is None:
        return Record(encoder, reader.guided)
    translation = reader.model.translate(text, to=language, beam=beam)
    crossed = _crossed(reader, ids, said, translation, language) if cross else None
    return Record(encoder, reader.guided, translation, language, crossed)


def _language(reader: Reader, to: str | None) -> str | None:
    """The language to translate to, refused before anything is computed; None for an encoder."""
    if not isinstance(reader, TranslatorReader):
        if to is not None:
            raise ArgumentError(f"to: found {to!r}; this model does not translate: leave it out")
        return None
    languages = reader.model.config.languages
    if to is not None and to not in languages:
        raise ArgumentError(f"to: found {to!r}; wanted one of {', '.join(languages)}")
    return str(to or languages[0])


def _crossed(
    reader: TranslatorReader, ids: list[int], said: Words, translation: str, language: str
) -> Sight:
    """What the decoder looked at in the sentence as it wrote each word of the translation.

    Row t of the decoder has read the pieces before t and writes piece t: its label is what it
    writes, the end mark last.
    """
    from clearhead.model.translation import decode, encode

    model, vocabulary = reader.model, reader.model.vocabulary
    slots = model.encode(said.sentence).slots
    written = vocabulary.encode(translation, slots=slots)
    target = np.array([[vocabulary.language(language), *written.ids]])
    memory = encode(model.weights, model.config, np.array([ids]))
    _, _, seen = decode(model.weights, model.config, target, memory, observe=Observe(weights=True))
    named = zip(written.ids, written.spans, strict=True)
    pieces = [Piece(vocabulary.piece(piece), span) for piece, span in named]
    words = Words(translation, (*pieces, Piece(vocabulary.piece(vocabulary.end))))
    return Sight("cross", words, said, tuple(one_of(observation) for observation in seen))
