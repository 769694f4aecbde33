"""How probable the model finds given translations: forced decoding, many pairs at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearhead.inputs.arrays import as_numpy, in_library_of
from clearhead.model.candidates import log_sum_exp
from clearhead.model.config import TranslationConfig
from clearhead.model.text_model import TextModel
from clearhead.model.threads import attention_on_one_thread
from clearhead.model.translation import decode, encode, logits

__all__ = ["log_probabilities", "text_log_probabilities"]

_ROWS = 512  # rows of scores held at once: (512, V)


def text_log_probabilities(
    model: TextModel, sources: Sequence[str], targets: Sequence[str], to: str, batch: int
) -> list[float]:
    """Of each target as a whole, its end included; see ``Translator.score``."""
    language, end = model.language(to), model.vocabulary.end
    pairs = [model.checked_pair(*pair) for pair in zip(sources, targets, strict=True)]
    rows = [model.row(encoded) for encoded, _ in pairs]
    wanted = [[language, *ids, end] for _, ids in pairs]
    pad = model.vocabulary.pad
    with attention_on_one_thread():
        found = log_probabilities(model.weights, model.config, rows, wanted, pad, batch)
    return [sum(each) for each in found]


def log_probabilities(
    weights: Mapping[str, Any],
    config: TranslationConfig,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    pad: int,
    batch: int = 64,
) -> list[list[float]]:
    """The natural log-probability of every piece of every target, given its source.

    Args:
        weights, config: of the model.
        sources: pieces of each source, the end included.
        targets: the language tag, the pieces, and the end if it counts.
        pad: the padding piece.
        batch: pairs at once; it changes nothing but rounding.

    Returns:
        for each pair as many numbers as its target has pieces after the tag.
    """
    order = sorted(range(len(sources)), key=lambda i: (len(targets[i]), len(sources[i])))
    found: dict[int, list[float]] = {}
    for at in range(0, len(order), batch):
        chosen = order[at : at + batch]
        rows = _forced(
            weights, config, [sources[i] for i in chosen], [targets[i] for i in chosen], pad
        )
        found.update(zip(chosen, rows, strict=True))
    return [found[i] for i in range(len(sources))]


def _forced(
    weights: Mapping[str, Any],
    config: TranslationConfig,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    pad: int,
) -> list[list[float]]:
    table = weights["embedding"]
    source, lengths = _padded(sources, pad)
    target, target_lengths = _padded(targets, pad)
    # Translations of one source are scored side by side to compare them: it is read once.
    _, first, which = np.unique(source, axis=0, return_index=True, return_inverse=True)
    read = in_library_of(source[first], table), in_library_of(lengths[first], table)
    memory = encode(weights, config, *read)[in_library_of(which.reshape(-1), table)]
    lengths = in_library_of(lengths, table)
    hidden = decode(weights, config, in_library_of(target[:, :-1], table), memory, lengths)
    real = np.arange(target.shape[1] - 1) < target_lengths[:, None] - 1  # (B, T)
    rows = hidden[in_library_of(real, table)]
    wanted = target[:, 1:][real]
    found = np.empty(len(wanted))
    for at in range(0, len(wanted), _ROWS):
        scores = as_numpy(logits(weights, rows[at : at + _ROWS]))
        picked = wanted[at : at + _ROWS, None]
        found[at : at + _ROWS] = np.take_along_axis(scores, picked, 1)[:, 0] - log_sum_exp(scores)
    ends = np.cumsum(target_lengths - 1)
    return [found[end - n : end].tolist() for end, n in zip(ends, target_lengths - 1, strict=True)]


def _padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
    lengths = np.array([len(row) for row in rows], np.int64)
    padded = np.full((len(rows), int(lengths.max())), pad, np.int64)
    for place, row in zip(padded, rows, strict=True):
        place[: len(row)] = row
    return padded, lengths
