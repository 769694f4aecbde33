"""Attention as word alignment: does a translation's word look at the word it stands for?

The cross-attention of each layer, the mean over its heads, gives every word of the translation one
source word: its strongest link. It can be read at the step that *writes* a piece, or one step
*later*, when the piece has become the decoder's input ("shifted"; Chen et al. 2020, "Accurate Word
Alignment Induction from Neural Machine Translation"). Which aligns better depends on the model and
the layer, so both are measured. The given translation is read, none is made (forced decoding).

Without marked alignments something is known still: a number, a name or a longer word that stands on
both sides must be linked to its copy; and where a test of pronouns names the antecedent in both
languages, the one noun must be linked to the other. With marked ones (*gold*, S sure and P
possible links, S among P), of the links A:

    precision = |A ∩ P| / |A|
    recall    = |A ∩ S| / |S|
    AER       = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

(Och and Ney 2003, "A Systematic Comparison of Various Statistical Alignment Models").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.core.observation import Observe
from clearhead.model.translation import decode, encode
from clearhead.model.words import words
from clearhead.training.evaluation.gold import Gold, spaced_words
from clearhead.training.evaluation.known_words import copies, nouns
from clearhead.training.evaluation.tables import Done, Row, nothing

__all__ = ["Alignment", "align", "aligned"]

Span = tuple[int, int]
_AT_ONCE = 32


@dataclass(frozen=True)
class Alignment:
    """How well the strongest links align, by layer of the decoder.

    Attributes:
        sentences: that were read.
        kind: of the known words, "nouns" or "copies", see :func:`nouns` and :func:`copies`.
        known: how many words of the translations are known to belong to a source word.
        written, later: share of them, from 0 to 1, whose strongest link leads there; one number a
            layer, at the step that writes the word and one step later.
        diagonal: the same share for a link to the word at the same place of the sentence.
        gold: "written" and "later", each with "aer", "precision" and "recall" by layer, where
            alignments are marked; else None.
    """

    sentences: int
    kind: str
    known: int
    written: tuple[float, ...]
    later: tuple[float, ...]
    diagonal: float
    gold: dict[str, dict[str, tuple[float, ...]]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return dict(vars(self))


def align(
    translator: Any, rows: Sequence[Row], to: str, gold: Sequence[Gold] = (), done: Done = nothing
) -> Alignment:
    """Measures the cross-attention of every layer as a word alignment.

    Args:
        translator: as ``load_translator`` gives it.
        rows: with columns ``en`` and the language, and maybe ``antecedent_en`` and ``antecedent_``
            + the language.
        to: the language.
        gold: the marked links of each row, words counted between spaces; empty where none are.
        done: called with how many more rows are done.
    """
    split = spaced_words if gold else words
    texts = [(" ".join(row["en"].split()), " ".join(row[to].split())) for row in rows]
    named = bool(rows) and {"antecedent_en", f"antecedent_{to}"} <= set(rows[0])
    layers = translator.config.decoder_layers
    right = np.zeros((2, layers))
    met = np.zeros((2, layers, 3))
    known, diagonal = 0, 0
    for i, links in aligned(translator, texts, to, split, done):
        source, target = texts[i]
        of_source, of_target = split(source), split(target)
        if named:
            noun, its = rows[i]["antecedent_en"], rows[i][f"antecedent_{to}"]
            pairs = nouns(source, target, of_source, of_target, noun, its)
        else:
            pairs = copies(source, target, of_source, of_target)
        for j, k in pairs:
            known += 1
            right += links[..., j] == k
            diagonal += round(j * (len(of_source) - 1) / max(len(of_target) - 1, 1)) == k
        if gold:
            met += _met(links, gold[i])
    of = max(known, 1)
    return Alignment(
        len(texts), "nouns" if named else "copies", known, _numbers(right[0] / of),
        _numbers(right[1] / of), diagonal / of, _rates(met, gold) if gold else None,
    )  # fmt: skip


def _met(links: Any, gold: Gold) -> Any:
    """|A ∩ S|, |A ∩ P| and |A| of each reading and layer, (2, layers, 3)."""
    found = np.zeros((*links.shape[:2], 3))
    for place in np.ndindex(links.shape[:2]):
        made = {(int(k), j) for j, k in enumerate(links[place])}
        found[place] = len(made & gold.sure), len(made & gold.possible), len(made)
    return found


def _rates(met: Any, gold: Sequence[Gold]) -> dict[str, dict[str, tuple[float, ...]]]:
    sure = sum(len(each.sure) for each in gold)
    rates = {}
    for name, (in_sure, in_possible, made) in zip(
        ("written", "later"), np.moveaxis(met, -1, 1), strict=True
    ):
        rates[name] = {
            "aer": _numbers(1 - (in_sure + in_possible) / np.maximum(made + sure, 1)),
            "precision": _numbers(in_possible / np.maximum(made, 1)),
            "recall": _numbers(in_sure / max(sure, 1)),
        }
    return rates


def aligned(
    translator: Any,
    texts: Sequence[tuple[str, str]],
    to: str,
    split: Callable[[str], list[Span]] = words,
    done: Done = nothing,
) -> Any:
    """Gives, pair by pair, (its number, its links): the strongest of every word of the translation.

    Args:
        translator: as ``load_translator`` gives it.
        texts: (source, translation), white space being one space; a pair with an empty side is
            left out.
        to: the language.
        split: where the words of a text are.
        done: called with how many more pairs are done.

    Yields:
        links (2, layers, words of the translation): numbers of source words, counted from 0;
        first at the step that writes a word, then one step later.
    """
    vocabulary = translator.vocabulary
    tag, end = vocabulary.language(to), vocabulary.source.end
    read = []
    for i, (source, target) in enumerate(texts):
        if source and target:
            found = translator.encode(source)
            read.append((i, found, vocabulary.encode(target, slots=found.slots)))
    read.sort(key=lambda each: (len(each[2].ids), len(each[1].ids)))
    for at in range(0, len(read), _AT_ONCE):
        chosen = read[at : at + _AT_ONCE]
        sources = [[*found.ids, end] for _, found, _ in chosen]
        targets = [[tag, *said.ids] for _, _, said in chosen]
        across = _across(translator, sources, targets)
        for row, (i, found, said) in enumerate(chosen):
            source, target = texts[i]
            pieces, steps = len(found.ids), len(said.ids)
            seen = across[:, row, :, :pieces]  # (layers, T + 1, S), without the end mark
            keys = seen @ _parts(split(source), found.spans).T  # (layers, T + 1, words)
            queries = _parts(split(target), said.spans)
            both = np.stack([keys[:, :steps], keys[:, 1 : steps + 1]])
            yield i, (queries @ both).argmax(-1)
        done(len(chosen))


def _across(
    translator: Any, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> Any:
    """Weights of the cross-attention, the mean over the heads: (layers, B, T, S)."""
    pad = translator.vocabulary.pad
    source, lengths = _padded(sources, pad)
    target, _ = _padded(targets, pad)
    weights, config = translator.weights, translator.config
    memory = encode(weights, config, source, lengths)
    observe = Observe(weights=True)
    _, _, seen = decode(weights, config, target, memory, lengths, observe=observe)
    return np.stack([layer.weights.mean(1) for layer in seen])


def _padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
    lengths = np.array([len(row) for row in rows], np.int64)
    padded = np.full((len(rows), int(lengths.max())), pad, np.int64)
    for place, row in zip(padded, rows, strict=True):
        place[: len(row)] = row
    return padded, lengths


def _parts(of_words: Sequence[Span], pieces: Sequence[Span]) -> Any:
    """Which pieces stand for a part of which word, (words, pieces), 0 or 1."""
    word, piece = np.array(of_words).reshape(-1, 2), np.array(pieces).reshape(-1, 2)
    starts, ends = word[:, :1], word[:, 1:]
    return ((piece[:, 1] > starts) & (piece[:, 0] < ends)).astype(np.float32)


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
