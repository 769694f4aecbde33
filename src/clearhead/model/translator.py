"""The translator: text in, text out, over any number of lines."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from clearhead.errors import ArgumentError, KindError, TextError
from clearhead.model.config import TranslationConfig
from clearhead.model.encoded import Encoded, check_unicode
from clearhead.model.files import folder_path
from clearhead.model.hypotheses import Hypothesis, Pieces, Search
from clearhead.model.numbers import numbers_in
from clearhead.model.scoring import log_probabilities
from clearhead.model.search import search
from clearhead.model.splitting import LONGEST, split_line
from clearhead.model.threads import attention_on_one_thread
from clearhead.model.translated import Candidate, LineWarning, Translation, joined
from clearhead.model.vocabulary import Vocabulary
from clearhead.model.weights import load_model

__all__ = ["BUNDLED", "Translator", "load_translator"]

BUNDLED = Path(__file__).parents[1] / "data" / "en-fr-de"


class Translator:
    """A translation model with its vocabulary.

    Args:
        config, vocabulary: of the model.
        weights: the tree of arrays that :mod:`clearhead.model.translation` describes.

    Example:
        >>> from clearhead.model.fresh import random_weights
        >>> words = Vocabulary.learn(["the cat sat"] * 99, size=300, languages=("fr", "de"))
        >>> config = TranslationConfig(vocabulary=words.size, width=8, heads=2)
        >>> translator = Translator(config, words, random_weights(config))
        >>> translator.translate(["", " "])
        ['', '']
        >>> translator.score("the cat", "le chat") < 0
        True
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

    @overload
    def translate(self, text: str, to: str = ..., **options: Any) -> str: ...
    @overload
    def translate(
        self, text: list[str] | tuple[str, ...], to: str = ..., **options: Any
    ) -> list[str]: ...
    def translate(self, text: str | Sequence[str], to: str = "fr", **options: Any) -> Any:
        """Translates a text, or each of a list.

        Args:
            text: one line, or a list of lines. White space counts as one space; a blank line gives
                an empty one. More than 512 pieces are translated in parts, with a ``LineWarning``.
            to: language of the translation.
            options: of :class:`clearhead.model.hypotheses.Search`: ``beam`` (default 4, 1 is
                greedy), ``batch``, ``alpha``, ``shortest``, ``longest``.

        Returns:
            the translation, or a list of as many.

        Raises:
            TextError: a lone surrogate, which is half a character.
            KindError: something that is no text.
            ArgumentError: a language the model does not have, or an option that cannot be meant.
        """
        one = isinstance(text, str)
        found = self.translations([text] if isinstance(text, str) else text, to, **options)
        for number, translation in enumerate(found, 1):
            for note in translation.notes:
                where = "" if one else f"line {number}: "
                warnings.warn(f"{where}{note}", LineWarning, stacklevel=2)
        return found[0].text if one else [translation.text for translation in found]

    def translations(
        self,
        texts: Sequence[str],
        to: str = "fr",
        *,
        done: Callable[[int], None] = lambda sentences: None,
        **options: Any,
    ) -> list[Translation]:
        """Translates lines, and says of each how probable it is and what was done to it.

        Args:
            texts: lines, as of :meth:`translate`.
            to: language of the translations.
            done: called now and then with how many more lines (or parts of one) are translated.
            options: as of :meth:`translate`, and ``nbest``: how many candidates to return.

        Raises:
            as :meth:`translate`.
        """
        language = self._language(to)
        how = _options(options)
        lines = [self._parts(text) for text in _texts(texts)]
        parts = [part for line in lines for part in line]
        encoded = [self.encode(part) for part in parts]
        with attention_on_one_thread():
            candidates = self._candidates(parts, encoded, language, how, done)
        translations, at = [], 0
        for text, line in zip(texts, lines, strict=True):
            end = at + len(line)
            limited = how.longest is not None
            found_here = candidates[at:end]
            translations.append(joined(text, encoded[at:end], found_here, limited=limited))
            at = end
        return translations

    @overload
    def score(self, source: str, target: str, to: str = ..., batch: int = ...) -> float: ...
    @overload
    def score(
        self,
        source: list[str] | tuple[str, ...],
        target: list[str] | tuple[str, ...],
        to: str = ...,
        batch: int = ...,
    ) -> list[float]: ...
    def score(self, source: Any, target: Any, to: str = "fr", batch: int = 64) -> Any:
        """How probable the model finds a translation: its natural log-probability, end included.

        Args:
            source: a text, or a list.
            target: its translation, or a list of as many.
            to: the language of the target.
            batch: pairs at once; it changes nothing but rounding.

        Returns:
            a number below 0, or a list of them.

        Raises:
            TextError: a lone surrogate, or more than 512 pieces on a side.
            KindError: something that is no text.
            ArgumentError: lists of different lengths, or a language the model does not have.
        """
        if isinstance(source, str) != isinstance(target, str):
            raise KindError(
                f"source and target: found {type(source).__name__} and {type(target).__name__}; "
                "wanted two texts, or two lists of them"
            )
        if isinstance(source, str):
            return self.score([source], [target], to, batch)[0]
        sources, targets = _texts(source, "source"), _texts(target, "target")
        if len(sources) != len(targets):
            raise ArgumentError(
                f"source and target: found {len(sources)} and {len(targets)} texts; wanted as many"
            )
        language, end = self._language(to), self.vocabulary.end
        rows, wanted = [], []
        for text, translation in zip(sources, targets, strict=True):
            encoded = self.encode(text)
            ids = self.vocabulary.encode(_spaced(translation), slots=encoded.slots).ids
            for name, pieces in (("source", encoded.ids), ("target", ids)):
                if len(pieces) >= LONGEST:
                    raise TextError(
                        f"{name}: found {len(pieces) + 1} pieces; wanted at most {LONGEST}; "
                        "score it sentence by sentence"
                    )
            rows.append([*encoded.ids, self.vocabulary.source.end])
            wanted.append([language, *ids, end])
        pad = self.vocabulary.pad
        with attention_on_one_thread():
            found = log_probabilities(self.weights, self.config, rows, wanted, pad, batch)
        return [sum(each) for each in found]

    def encode(self, text: str) -> Encoded:
        """A line in pieces as the model reads it, without the end: white space as one space."""
        return self.vocabulary.source.encode(_spaced(text))

    def __repr__(self) -> str:
        return f"Translator(to={'|'.join(self.config.languages)}, {self.config.vocabulary} pieces)"

    def _language(self, to: str) -> int:
        if to not in self.config.languages:
            raise ArgumentError(
                f"to: found {to!r}; wanted {' or '.join(self.config.languages)}, as this model has"
            )
        return self.vocabulary.language(to)

    def _parts(self, text: str) -> list[str]:
        spaced = _spaced(text)
        return split_line(spaced, self.vocabulary.source) if spaced else []

    def _candidates(
        self,
        parts: Sequence[str],
        encoded: Sequence[Encoded],
        language: int,
        how: Search,
        done: Callable[[int], None],
    ) -> list[list[Candidate]]:
        """The candidates of every part; where nothing is to be translated, the part itself."""
        end = self.vocabulary.source.end
        sources = [[*item.ids, end] for item in encoded]
        kept = [i for i, part in enumerate(parts) if self._is_kept(part, encoded[i])]
        others = sorted(set(range(len(parts))) - set(kept))
        best = search(
            self.weights, self.config, [sources[i] for i in others], self.pieces, language, how,
            done, [numbers_in(parts[i]) for i in others],
        )  # fmt: skip
        found = dict(zip(others, best, strict=True))
        ids = [self.vocabulary.encode(parts[i], slots=encoded[i].slots).ids for i in kept]
        targets = [[language, *row, self.vocabulary.end] for row in ids]
        read = log_probabilities(
            self.weights, self.config, [sources[i] for i in kept], targets, self.vocabulary.pad
        )
        for i, row, each in zip(kept, ids, read, strict=True):
            total = sum(each)
            found[i] = [Hypothesis(tuple(row), total, total / len(each) ** how.alpha)]
        done(len(kept))
        return [[self._candidate(h, item) for h in found[i]] for i, item in enumerate(encoded)]

    def _is_kept(self, part: str, encoded: Encoded) -> bool:
        """Whether there is nothing to translate: no letter but in slots."""
        slots = set(self.vocabulary.slots)
        pieces = zip(encoded.ids, encoded.spans, strict=True)
        return not any(
            character.isalpha()
            for piece, (start, end) in pieces
            if piece not in slots
            for character in part[start:end]
        )

    def _candidate(self, found: Hypothesis, source: Encoded) -> Candidate:
        text = self.vocabulary.decode(found.ids, source.slots)
        words = zip(self.vocabulary.slots, source.slots, strict=False)
        lost = tuple(word for slot, word in words if slot not in found.ids)
        return Candidate(text, found.log_probability, found.score, found.finished, found.ids, lost)


def load_translator(folder: str | Path | None = None) -> Translator:
    """Loads a translation model.

    Args:
        folder: of the model: config.json, vocabulary.json, model.safetensors; None is the bundled
            model, English to French and German.

    Raises:
        ModelError: the folder holds no whole model; the message names the file.
        KindError: ``folder`` is no path.
    """
    return Translator(*load_model(BUNDLED if folder is None else folder_path(folder)))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _texts(texts: Any, name: str = "text") -> list[str]:
    if isinstance(texts, str):
        raise KindError(f"{name}: found one text; wanted a list of them")
    if isinstance(texts, bytes) or not isinstance(texts, Sequence):
        raise KindError(f"{name}: found {type(texts).__name__}; wanted str, or a list of them")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise KindError(f"{name} {number}: found {type(text).__name__}; wanted str")
        check_unicode(text)
    return list(texts)


def _options(options: Mapping[str, Any]) -> Search:
    try:
        return Search(**options)
    except TypeError as error:
        raise ArgumentError(f"options: {error}; wanted those of Search") from None
