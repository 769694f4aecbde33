"""Text to pieces and back: byte-level pairs (Sennrich et al. 2016) that never lose a character.

Every piece stands for bytes, so any text comes back exactly. Words with characters that training
hardly saw ("Łódź", "€", "🙂") are not spelt: each is replaced by a *slot*, a piece of its own that
the model learns to carry over (Luong et al. 2015, "Addressing the rare word problem"), and the word
is put back in the translation. So are addresses, more than 16 marks in a row, and runs of more than
100 characters without a space, which are no words. Special pieces cannot be written by any text.
"""

from __future__ import annotations

import json
import string
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from clearhead.errors import ModelError
from clearhead.model.encoded import Encoded, check_unicode
from clearhead.model.files import read_json
from clearhead.model.numbers import Digits
from clearhead.model.pieces import learn_pieces
from clearhead.model.source import SourcePieces
from clearhead.model.words import all_words, is_no_word, words_and_runs

__all__ = ["Vocabulary"]

_ALWAYS = frozenset(string.ascii_letters + string.digits + ".,;:!?'\"()- \n\t")  # spelt
PAD, END = "<pad>", "</s>"
SLOTS = 8


class Vocabulary:
    """The pieces of a model, shared by source and target.

    Args:
        tokenizer: a byte-level BPE tokenizer whose first pieces are the special ones.
        characters: those that training saw often; a word with any other one gets a slot.
        source: of a BERT-type encoder that reads the source first; None where there is none.

    Attributes:
        source: what cuts a source into pieces: the vocabulary itself, or such an encoder's.
        size: pieces in all.
        pad, end: the two; ``slots``: the eight; ``special``: pieces below it are special.

    Example:
        >>> words = Vocabulary.learn(["the cat sat", "the mat"] * 50, size=300, languages=("fr",))
        >>> words.decode(words.encode("the hat").ids)
        'the hat'
        >>> words.encode("the 猫 sat").slots
        ['猫']
    """

    begin: int | None = None  # no piece stands before a sentence

    def __init__(
        self,
        tokenizer: Tokenizer,
        characters: Iterable[str],
        source: SourcePieces | None = None,
    ) -> None:
        self.source: Vocabulary | SourcePieces = source or self
        self._tokenizer = tokenizer
        self.characters = frozenset(characters)
        self.size: int = tokenizer.get_vocab_size(with_added_tokens=False)
        self.pad, self.end = self._id(PAD), self._id(END)
        self.slots = [self._id(f"<{i}>") for i in range(SLOTS)]
        self._slot_of = {piece: i for i, piece in enumerate(self.slots)}
        self.special = self.slots[-1] + 1

    @classmethod
    def learn(
        cls, texts: Iterable[str], *, size: int, languages: Sequence[str], often: int = 200
    ) -> Vocabulary:
        """Learns pieces from text.

        Args:
            texts: sentences of all languages.
            size: pieces in all, the special ones included; at least 300 or so.
            languages: target tags.
            often: how often a character must occur for its words to be spelt.
        """
        texts = list(texts)
        special = [PAD, END, *(f"<{tag}>" for tag in languages), *(f"<{i}>" for i in range(SLOTS))]
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(text)
        known = {c for c, n in counts.items() if n >= often} | _ALWAYS
        return cls(learn_pieces(texts, size, special), known)

    def language(self, tag: str) -> int:
        """The piece that begins a translation into ``tag``.

        Raises:
            ModelError: the model has no such language.
        """
        try:
            return self._id(f"<{tag}>")
        except ModelError:
            raise ModelError(f"language {tag!r} is none of this model's") from None

    def encode(
        self, text: str, *, slots: Sequence[str] | None = None, also: Container[str] = ()
    ) -> Encoded:
        """Cuts a sentence into pieces.

        Args:
            text: any text.
            slots: the words to replace by slots, in order (a translation is cut with the slots of
                its source); None replaces the words that cannot be spelt, the first eight of them.
            also: further words to replace, when ``slots`` is None.

        Raises:
            TextError: the text holds a lone surrogate, which is no character.
        """
        check_unicode(text)
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        given = None if slots is None else list(slots)
        held: list[str] = given or []
        at = 0
        for start, end in [] if given == [] else self._words_to_replace(text, given, also):
            word = text[start:end]
            if word not in held:
                if len(held) == SLOTS:
                    continue
                held.append(word)
            self._spell(text, at, start, ids, spans)
            ids.append(self.slots[held.index(word)])
            spans.append((start, end))
            at = end
        self._spell(text, at, len(text), ids, spans)
        return Encoded(ids, spans, held)

    def encode_plain(self, texts: Sequence[str]) -> list[list[int]]:
        """Cuts many texts into pieces, spelling every word: no slots, no spans."""
        found = self._tokenizer.encode_batch_fast([" " + text for text in texts])
        return [item.ids for item in found]

    def decode(self, ids: Sequence[int], slots: Sequence[str] = ()) -> str:
        """Pieces to text: slots become their words; tags, padding and the end are left out."""
        parts: list[str] = []
        run: list[int] = []
        for piece in ids:
            slot = self._slot_of.get(piece)
            if slot is not None:
                parts.append(self._text(run))
                run = []
                parts.append(slots[slot] if slot < len(slots) else "")
            elif piece >= self.special:
                run.append(piece)
        parts.append(self._text(run))
        return "".join(parts).removeprefix(" ")

    def blank(self) -> frozenset[int]:
        """Pieces that are white space alone."""
        found = (self._tokenizer.encode(space).ids for space in " \t\n\r\u00a0\u2009\u202f\u3000")
        return frozenset(ids[0] for ids in found if len(ids) == 1)

    def digits(self) -> Digits:
        """Pieces that are digits."""
        held = {
            c: (self._tokenizer.token_to_id(c), self._tokenizer.token_to_id("Ġ" + c))
            for c in string.digits
        }
        return Digits(
            plain={plain: c for c, (plain, _) in held.items() if plain is not None},
            spaced={spaced: c for c, (_, spaced) in held.items() if spaced is not None},
        )

    def piece(self, piece: int) -> str:
        """The name of a piece, as views show it."""
        return self._tokenizer.id_to_token(piece) or ""

    def save(self, path: Path) -> None:
        """Writes the vocabulary as one JSON file."""
        held: dict[str, Any] = {
            "tokenizer": json.loads(self._tokenizer.to_str()),
            "characters": "".join(sorted(self.characters)),
        }
        if isinstance(self.source, SourcePieces):
            held["source"] = self.source.to_json()
        path.write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """Reads what :meth:`save` wrote.

        Raises:
            ModelError: the file is missing or holds no vocabulary.
        """
        held = read_json(path)
        try:
            tokenizer = Tokenizer.from_str(json.dumps(held["tokenizer"]))
            source = held.get("source")
            pieces = None if source is None else SourcePieces(json.dumps(source))
            characters = held["characters"]
            if not isinstance(characters, str) or not _ALWAYS.issubset(characters):
                raise ValueError("its characters are no text that holds all of ASCII's letters")
            return cls(tokenizer, characters, pieces)
        except ModelError:
            raise
        except Exception as error:  # tokenizers raises bare Exceptions
            raise ModelError(f"{path} holds no vocabulary: {error}") from error

    def _id(self, piece: str) -> int:
        found = self._tokenizer.token_to_id(piece)
        if found is None:
            raise ModelError(f"the vocabulary has no piece {piece!r}")
        return int(found)

    def _words_to_replace(
        self, text: str, given: list[str] | None, also: Container[str]
    ) -> Iterable[tuple[int, int]]:
        if given is None and also == () and self.characters.issuperset(text) and all_words(text):
            return
        for start, end in words_and_runs(text):
            word = text[start:end]
            if given is not None:
                wanted = word in given
            else:
                wanted = word in also or is_no_word(word)
                wanted = wanted or not self.characters.issuperset(word)
            if wanted:
                yield start, end

    def _spell(
        self, text: str, start: int, end: int, ids: list[int], spans: list[tuple[int, int]]
    ) -> None:
        """Adds the pieces of ``text[start:end]``; a space is set before the first of all."""
        lead = 1 if start == 0 else 0
        if end == start and not lead:
            return
        found = self._tokenizer.encode(" " * lead + text[start:end])
        for piece, (a, b) in zip(found.ids, found.offsets, strict=True):
            ids.append(piece)
            spans.append((max(a - lead, 0) + start, max(b - lead, 0) + start))

    def _text(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=False)) if ids else ""
