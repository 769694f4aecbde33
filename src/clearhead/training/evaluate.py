"""How good a translator is: BLEU and chrF, right pronouns, and what "it" looks at.

BLEU (Papineni et al. 2002) and chrF (Popović 2015) are sacreBLEU's (Post 2018), with its
signatures. Pronouns are scored by contrast: a sentence is right when the model gives its right
translation a higher probability than the same one with another pronoun (Bawden et al. 2018). For
heads, see Clark et al. 2019, "What Does BERT Look At?", section 5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.core.observation import Observe
from clearhead.errors import ArgumentError, MissingExtra
from clearhead.model.translation import encode
from clearhead.training.data import read_lines

__all__ = [
    "Contrast",
    "Heads",
    "Scores",
    "bleu_chrf",
    "contrast",
    "heads",
    "read_table",
    "sample",
    "scorers",
]

Row = Mapping[str, str]


@dataclass(frozen=True)
class Scores:
    """BLEU and chrF of a text, each with sacreBLEU's signature; both from 0 to 100."""

    lines: int
    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


@dataclass(frozen=True)
class Contrast:
    """How many sentences got the higher score with the right pronoun, and how many whole pairs."""

    sentences: int
    right: int
    pairs: int
    pairs_right: int


@dataclass(frozen=True)
class Heads:
    """How often each head of the encoder looks more from "it" at the right noun than at the other.

    Attributes:
        sentences: that were read.
        share: (layers, heads) from 0 to 1; by chance 0.5.
        weight: (layers, heads) mean weight from "it" to the right noun.
        guided: heads that training pulled to antecedents, as (layer, head).
    """

    sentences: int
    share: Any
    weight: Any
    guided: tuple[tuple[int, int], ...]


def read_table(path: str | Path) -> list[dict[str, str]]:
    """The rows of a TSV(.gz) file whose first line names the columns.

    Raises:
        ArgumentError: the file is empty, or a row has another number of columns.
    """
    lines = read_lines(path)
    if not lines:
        raise ArgumentError(f"{path} is empty; wanted a line that names the columns, then rows")
    names, rows = lines[0].split("\t"), []
    for number, line in enumerate(lines[1:], 2):
        columns = line.split("\t")
        if len(columns) != len(names):
            raise ArgumentError(
                f"{path}, line {number}: found {len(columns)} columns; wanted {len(names)}"
            )
        rows.append(dict(zip(names, columns, strict=True)))
    return rows


def sample(rows: Sequence[Any], most: int) -> list[Any]:
    """At most ``most`` rows, spread evenly over a sorted file.

    Example:
        >>> sample(range(10), 4)
        [0, 2, 5, 7]
    """
    if len(rows) <= most:
        return list(rows)
    return [rows[i * len(rows) // most] for i in range(most)]


def scorers() -> tuple[Any, Any]:
    """sacreBLEU's BLEU and chrF2, with its own defaults.

    Raises:
        MissingExtra: sacreBLEU is not installed.
    """
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise MissingExtra("sacrebleu", "train", "scoring translations") from None
    return BLEU(), CHRF()


def bleu_chrf(translations: Sequence[str], references: Sequence[str]) -> Scores:
    """Scores translations against one reference each, on the unchanged text.

    Raises:
        MissingExtra: sacreBLEU is not installed.

    Example:
        >>> scores = bleu_chrf(["Le chat dort."], ["Le chat dort."])
        >>> round(scores.bleu), round(scores.chrf)
        (100, 100)
    """
    metrics = scorers()
    bleu, chrf = (m.corpus_score(list(translations), [list(references)]).score for m in metrics)
    signatures = [str(metric.get_signature()) for metric in metrics]
    return Scores(len(references), bleu, chrf, *signatures)


def contrast(translator: Any, rows: Sequence[Row], to: str) -> Contrast:
    """Whether the model prefers the right pronoun.

    Args:
        translator: as ``load_translator`` gives it.
        rows: with columns ``en``, the language, the language + ``_contrast``, and ``pair`` where
            sentences come in pairs of opposite answers: a pair is right when both are.
        to: the language.
    """
    sources = [row["en"] for row in rows]
    good = translator.score(sources, [row[to] for row in rows], to=to)
    bad = translator.score(sources, [row[f"{to}_contrast"] for row in rows], to=to)
    right = [g > b for g, b in zip(good, bad, strict=True)]
    pairs: dict[str, list[bool]] = {}
    for row, answer in zip(rows, right, strict=True):
        if "pair" in row:
            pairs.setdefault(row["pair"], []).append(answer)
    whole = sum(all(answers) for answers in pairs.values())
    return Contrast(len(right), sum(right), len(pairs), whole)


def heads(translator: Any, rows: Sequence[Row]) -> Heads:
    """What every head of the encoder looks at from the last "it" of a sentence.

    Args:
        translator: as ``load_translator`` gives it.
        rows: with columns ``en``, ``antecedent_en`` and ``other_en``; rows in which one of the
            three words is not found are left out.
    """
    config, source = translator.config, translator.vocabulary.source
    more = np.zeros((config.encoder_layers, config.heads))
    weight, count = np.zeros_like(more), 0
    for row in rows:
        found = source.encode(row["en"])
        words = ("it", row["antecedent_en"], row["other_en"])
        at, right, other = (_pieces(row["en"], word, found.spans) for word in words)
        if not (at and right and other):
            continue
        ids = np.array([[*found.ids, source.end]])
        _, seen = encode(translator.weights, config, ids, observe=Observe(rows=at))
        given = np.stack([layer.rows[0].mean(1) for layer in seen])  # (layers, heads, S)
        to_right, to_other = given[..., right].sum(-1), given[..., other].sum(-1)
        more += to_right > to_other
        weight += to_right
        count += 1
    return Heads(count, more / max(count, 1), weight / max(count, 1), config.guided)


def _pieces(text: str, word: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """The pieces of a word: of the last "it", and of the first of any other."""
    found = list(re.finditer(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)) if word else []
    if not found:
        return []
    start, end = found[-1 if word == "it" else 0].span()
    return [i for i, span in enumerate(spans) if span[1] > start and span[0] < end]
