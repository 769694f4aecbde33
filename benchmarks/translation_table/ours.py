"""Our translator as it is timed: text in, text out, on the sentences that the peers get."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.model.translator import Translator, load_translator

__all__ = ["Ours", "first_sentences"]

SENTENCES = Path(__file__).parents[2] / "corpus" / "eval" / "tatoeba-own-test.en-fr.tsv.gz"
TO = "fr"


def first_sentences(count: int, path: Path = SENTENCES) -> list[str]:
    """``count`` English sentences, taken at even steps out of the whole file, which is sorted."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)  # names of the columns
        lines = [line.split("\t")[0] for line in file]
    at = np.linspace(0, len(lines) - 1, min(count, len(lines))).astype(int)
    return [lines[i] for i in at]


class Ours:
    """The bundled translator, or another folder's, with what it made of the sentences.

    Attributes:
        sources: the pieces of every sentence, its end included.
        written: the pieces that greedy search wrote for each, without the end.
    """

    def __init__(
        self, sentences: Sequence[str], folder: Path | None = None, workers: int = 1
    ) -> None:
        self.workers = workers
        self.translator: Translator = load_translator(folder)
        self.sentences = list(sentences)
        end = self.translator.vocabulary.source.end
        self.sources = [[*self.translator.encode(text).ids, end] for text in sentences]
        self.written = self.pieces(beam=1)

    def translate(self, beam: int, batch: int | None) -> list[str]:
        """What is timed: every sentence from text to text; at batch 1 one after the other."""
        workers = 1 if batch == 1 else self.workers
        return self.translator.translate(
            self.sentences, to=TO, beam=beam, batch=batch, workers=workers
        )

    def pieces(self, beam: int, batch: int | None = None) -> list[tuple[int, ...]]:
        """What is written for every sentence, in pieces."""
        found = self.translator.translations(self.sentences, TO, beam=beam, batch=batch)
        return [translation.candidates[0].ids for translation in found]

    def check(self, beam: int, batches: Sequence[int | None]) -> float:
        """That text does not depend on the batch, and scores are those of forced decoding.

        Returns:
            the largest difference of a log-probability.

        Raises:
            AssertionError: texts differ, or scores by more than 1e-4.
        """
        runs = [self._candidates(beam, batch) for batch in batches]
        for run in runs[1:]:
            assert [c.text for c in run] == [c.text for c in runs[0]], "texts differ by batch"
        read = self.translator.score(self.sentences[:50], [c.text for c in runs[0][:50]], to=TO)
        off = max(
            abs(candidate.log_probability - forced)
            for run in runs
            for candidate, forced in zip(run[:50], read, strict=True)
            if self._reads_back(candidate)
        )
        assert off <= 1e-4, f"scores are off by {off}"
        return float(off)

    def _candidates(self, beam: int, batch: int | None) -> list[Any]:
        found = self.translator.translations(self.sentences, TO, beam=beam, batch=batch)
        return [translation.candidates[0] for translation in found]

    def _reads_back(self, candidate: Any) -> bool:
        """Whether its text is cut into the pieces it was written in, and it ended."""
        ids = self.translator.vocabulary.encode(candidate.text).ids
        return bool(candidate.finished and tuple(ids) == tuple(candidate.ids))
