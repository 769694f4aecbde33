"""Attention as word alignment: does a translation's word look at the word it stands for?

The cross-attention of each layer, the mean over its heads, gives every word of the translation one
source word: its strongest link. It can be read at the step that *writes* a piece, or one step
later, when the piece has become the decoder's input ("shifted"; Chen et al. 2020, "Accurate Word
Alignment Induction from Neural Machine Translation"), which is known to align better. The given
translation is read, none is made (forced decoding).

Without marked alignments there is still something known: a number, a name or a longer word that
stands on both sides must be linked to its copy. With marked ones (*gold*, S sure and P possible
links, S among P), of the links A:

    precision = |A ∩ P| / |A|
    recall    = |A ∩ S| / |S|
    AER       = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

(Och and Ney 2003, "A Systematic Comparison of Various Statistical Alignment Models").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from clearhead.core.observation import Observe
from clearhead.model.translation import decode, encode
from clearhead.model.words import words
from clearhead.training.evaluation.gold import Gold, spaced_words
from clearhead.training.evaluation.tables import Done, Row, nothing

__all__ = ["Alignment", "align", "aligned", "copies"]

Span = tuple[int, int]
_AT_ONCE = 32
_LONG = 6  # letters from which a word on both sides is taken for the same word


@dataclass(frozen=True)
class Alignment:
    """How well the strongest links align, by layer of the decoder.

    Attributes:
        sentences: that were read.
        copies: words of the translations that stand in the source too, see :func:`copies`.
        copied, copied_unshifted: share of them, from 0 to 1, whose strongest link is their copy;
            one number a layer, read one step later and at the step itself.
        diagonal: the same share for a link to the word at the same place of the sentence.
        aer, precision, recall: one number a layer, shifted, where alignments are marked; else None.
        aer_unshifted: the same at the step itself.
    """

    sentences: int
    copies: int
    copied: tuple[float, ...]
    copied_unshifted: tuple[float, ...]
    diagonal: float
    aer: tuple[float, ...] | None = None
    precision: tuple[float, ...] | None = None
    recall: tuple[float, ...] | None = None
    aer_unshifted: tuple[float, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)


def align(
    translator: Any, rows: Sequence[Row], to: str, gold: Sequence[Gold] = (), done: Done = nothing
) -> Alignment:
    """Measures the cross-attention of every layer as a word alignment.

    Args:
        translator: as ``load_translator`` gives it.
        rows: with columns ``en`` and the language.
        to: the language.
        gold: the marked links of each row, words counted between spaces; empty where none are.
        done: called with how many more rows are done.
    """
    split = spaced_words if gold else words
    texts = [(" ".join(row["en"].split()), " ".join(row[to].split())) for row in rows]
    layers = translator.config.decoder_layers
    right = np.zeros((2, layers))
    met = np.zeros((2, layers, 3))  # |A ∩ S|, |A ∩ P|, |A|
    sure = sum(len(each.sure) for each in gold)
    count, diagonal = 0, 0
    for i, links in aligned(translator, texts, to, split, done):
        source, target = texts[i]
        of_source, of_target = split(source), split(target)
        for j, k in copies(source, of_source, target, of_target):
            count += 1
            right += links[..., j] == k
            diagonal += round(j * (len(of_source) - 1) / max(len(of_target) - 1, 1)) == k
        for place in np.ndindex(links.shape[:2]) if gold else ():
            made = {(int(k), j) for j, k in enumerate(links[place])}
            met[place] += len(made & gold[i].sure), len(made & gold[i].possible), len(made)
    found = right / max(count, 1)
    figures: dict[str, Any] = {}
    if gold:
        in_sure, in_possible, made_links = (met[..., n] for n in range(3))
        error = 1 - (in_sure + in_possible) / np.maximum(made_links + sure, 1)
        figures = {
            "aer": _numbers(error[0]),
            "precision": _numbers((in_possible / np.maximum(made_links, 1))[0]),
            "recall": _numbers((in_sure / max(sure, 1))[0]),
            "aer_unshifted": _numbers(error[1]),
        }
    return Alignment(
        len(texts), count, _numbers(found[0]), _numbers(found[1]), diagonal / max(count, 1),
        **figures,
    )  # fmt: skip


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
        first shifted, then at the step itself.
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
            both = np.stack([keys[:, 1 : steps + 1], keys[:, :steps]])
            yield i, (queries @ both).argmax(-1)
        done(len(chosen))


def copies(
    source: str, of_source: Sequence[Span], target: str, of_target: Sequence[Span]
) -> list[tuple[int, int]]:
    """Words that stand once on each side: numbers, names, and words of six letters or more.

    A name is what has a capital within the sentence, of the source. Shorter words are left out:
    French "son" is no English one.

    Returns:
        (word of the target, word of the source), counted from 0.

    Example:
        >>> texts = "In 2019 Tom saw a documentation.", "Tom vit une documentation en 2019."
        >>> copies(texts[0], words(texts[0]), texts[1], words(texts[1]))
        [(0, 2), (3, 5), (5, 1)]
    """
    here, there = ([text[a:b] for a, b in spans] for text, spans in
                   ((source, of_source), (target, of_target)))  # fmt: skip
    once, once_there = Counter(here), Counter(there)
    found = []
    for j, word in enumerate(there):
        if once[word] != 1 or once_there[word] != 1:
            continue
        k = here.index(word)
        name = k > 0 and len(word) > 1 and word[0].isupper()
        long = len(word) >= _LONG and word.isalpha()
        if name or long or any(c.isdigit() for c in word):
            found.append((j, k))
    return found


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
