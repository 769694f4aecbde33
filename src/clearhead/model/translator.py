"""The translator: text in, text out, over any number of lines."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, overload

from clearhead.errors import ArgumentError, KindError
from clearhead.model.alternatives import Alternative, find_alternatives
from clearhead.model.files import folder_path
from clearhead.model.hypotheses import WIDEST
from clearhead.model.part_search import find_candidates
from clearhead.model.scoring import text_log_probabilities
from clearhead.model.splitting import split_line
from clearhead.model.text_model import TextModel, checked_options, checked_texts, spaced
from clearhead.model.threads import attention_on_one_thread
from clearhead.model.translated import Candidate, LineWarning, Translation, joined
from clearhead.model.weights import load_model

__all__ = ["BUNDLED", "Translator", "load_translator"]

BUNDLED = Path(__file__).parents[1] / "data" / "en-fr-de"

Texts = list[str] | tuple[str, ...]


class Translator(TextModel):
    """A translation model with its vocabulary.

    Args:
        config, vocabulary: of the model.
        weights: the tree of arrays that :mod:`clearhead.model.translation` describes.

    Example:
        >>> from clearhead.model.config import TranslationConfig
        >>> from clearhead.model.fresh import random_weights
        >>> from clearhead.model.vocabulary import Vocabulary
        >>> words = Vocabulary.learn(["the cat sat"] * 99, size=300, languages=("fr", "de"))
        >>> config = TranslationConfig(vocabulary=words.size, width=8, heads=2)
        >>> translator = Translator(config, words, random_weights(config))
        >>> translator.translate(["", " "])
        ['', '']
        >>> translator.score("the cat", "le chat") < 0
        True
    """

    @overload
    def translate(self, text: str, to: str = ..., *, n_best: None = ..., **options: Any) -> str: ...
    @overload
    def translate(
        self, text: Texts, to: str = ..., *, n_best: None = ..., **options: Any
    ) -> list[str]: ...
    @overload
    def translate(
        self, text: str, to: str = ..., *, n_best: int, **options: Any
    ) -> list[Candidate]: ...
    @overload
    def translate(
        self, text: Texts, to: str = ..., *, n_best: int, **options: Any
    ) -> list[list[Candidate]]: ...
    def translate(
        self,
        text: str | Sequence[str],
        to: str = "fr",
        *,
        n_best: int | None = None,
        **options: Any,
    ) -> Any:
        """Translates a text, or each of a list.

        Args:
            text: one line, or a list of lines. White space counts as one space; a blank line gives
                an empty one. More than 512 pieces are translated in parts, with a ``LineWarning``.
            to: language of the translation.
            n_best: how many candidates to return of each; None is the text of the best alone.
            options: of :class:`clearhead.model.hypotheses.Search`: ``beam`` (default 4, 1 is
                greedy), ``length_penalty``, ``min_length``, ``max_length``, ``no_repeat``,
                ``batch``.

        Returns:
            the translation, or a list of as many; with ``n_best`` a list of candidates, best
            first, in place of each text: fewer where the search found no more, none for a blank
            line.

        Raises:
            TextError: a lone surrogate, which is half a character.
            KindError: something that is no text.
            ArgumentError: a language the model does not have, or an option that cannot be meant.
        """
        one = isinstance(text, str)
        options = options if n_best is None else {**options, "n_best": n_best}
        texts = [text] if isinstance(text, str) else text
        found = self.translations(texts, to, exact=n_best is not None, **options)
        for number, translation in enumerate(found, 1):
            for note in translation.notes:
                where = "" if one else f"line {number}: "
                warnings.warn(f"{where}{note}", LineWarning, stacklevel=2)
        if n_best is None:
            said = [translation.text for translation in found]
            return said[0] if one else said
        candidates = [list(translation.candidates) for translation in found]
        return candidates[0] if one else candidates

    def translations(
        self,
        texts: Sequence[str],
        to: str = "fr",
        *,
        done: Callable[[int], None] = lambda sentences: None,
        exact: bool = True,
        **options: Any,
    ) -> list[Translation]:
        """Translates lines, and says of each how probable it is and what was done to it.

        Args:
            texts: lines, as of :meth:`translate`.
            to: language of the translations.
            done: called now and then with how many more lines (or parts of one) are translated.
            exact: whether log-probabilities must be those of the texts, as :meth:`score` gives
                them; False saves reading about one in a hundred again.
            options: as of :meth:`translate`; ``n_best`` is 1 by default.

        Raises:
            as :meth:`translate`.
        """
        texts, how = checked_texts(texts), checked_options(options)
        language = self.language(to)
        lines = [self._parts(text) for text in texts]
        parts = [part for line in lines for part in line]
        encoded = [self.encode(part) for part in parts]
        with attention_on_one_thread():
            candidates = find_candidates(self, parts, encoded, language, how, done, exact=exact)
        translations, at = [], 0
        for text, line in zip(texts, lines, strict=True):
            end = at + len(line)
            translations.append(joined(text, encoded[at:end], candidates[at:end], how))
            at = end
        return translations

    @overload
    def score(self, source: str, target: str, to: str = ..., batch: int = ...) -> float: ...
    @overload
    def score(
        self, source: Texts, target: Texts, to: str = ..., batch: int = ...
    ) -> list[float]: ...
    def score(self, source: Any, target: Any, to: str = "fr", batch: int = 64) -> Any:
        """How probable the model finds a translation: its natural log-probability, end included.

        Args:
            source: a text, or a list.
            target: its translation, or a list of as many.
            to: the language of the target.
            batch: pairs at once; it changes nothing but rounding.

        Returns:
            a number below 0, or a list of them. Of a candidate that reached its end it is its
            ``log_probability``.

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
        sources, targets = checked_texts(source, "source"), checked_texts(target, "target")
        if len(sources) != len(targets):
            raise ArgumentError(
                f"source and target: found {len(sources)} and {len(targets)} texts; wanted as many"
            )
        batch = checked_options({"batch": batch}).at_once
        return text_log_probabilities(self, sources, targets, to, batch)

    def alternatives(
        self,
        source: str,
        translation: str,
        word: int,
        to: str = "fr",
        *,
        count: int = 5,
        **options: Any,
    ) -> list[Alternative]:
        """What could stand in the place of a word of a translation, and where it would lead.

        The words before it stay as they are; what comes after it is searched anew.

        Args:
            source: a text of at most 512 pieces.
            translation: of it, by this model or anyone.
            word: the index of a word of the translation, from 0 (or from the end, −1 the last), as
                :func:`clearhead.model.words.words` counts: punctuation marks are words.
            to: the language of the translation.
            count: how many other words, at most 64.
            options: as of :meth:`translate`, but ``n_best``.

        Returns:
            the likeliest other words, best first, each with its probability and its translation. A
            word that is empty stands for ending the translation before this place.

        Raises:
            TextError: a lone surrogate, or more than 512 pieces on a side.
            KindError: something that is no text, or no index.
            ArgumentError: a word that there is not, or an option that cannot be meant.

        Example:
            >>> translator = load_translator()
            >>> french = translator.translate("The animal was tired.")
            >>> others = translator.alternatives("The animal was tired.", french, word=0, count=2)
            >>> [0 < other.probability < 1 for other in others]
            [True, True]
        """
        texts = checked_texts([source], "source"), checked_texts([translation], "translation")
        if type(count) is not int or not 1 <= count <= WIDEST:
            raise ArgumentError(f"count: found {count!r}; wanted a whole number from 1 to {WIDEST}")
        how = checked_options(options)
        with attention_on_one_thread():
            return find_alternatives(self, texts[0][0], texts[1][0], word, to, count, how)

    def __repr__(self) -> str:
        return f"Translator(to={'|'.join(self.config.languages)}, {self.config.vocabulary} pieces)"

    def _parts(self, text: str) -> list[str]:
        line = spaced(text)
        return split_line(line, self.vocabulary.source) if line else []


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
