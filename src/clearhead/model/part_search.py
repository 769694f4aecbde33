"""Lines, or parts of long ones, through the search: text in, candidates out.

What a search finds are pieces; what a reader gets is a text. So hypotheses that spell one text are
one candidate, and its probability is that of the pieces that the text is cut into by itself: then
``score`` of the text gives the same number. Of a trained model, about one hypothesis in a hundred
is spelt in other pieces, and read again for that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from clearhead.model.encoded import Encoded
from clearhead.model.hypotheses import Hypothesis, Search
from clearhead.model.numbers import numbers_in
from clearhead.model.rules import Prefix
from clearhead.model.scoring import log_probabilities
from clearhead.model.search import search
from clearhead.model.text_model import TextModel, spaced
from clearhead.model.translated import Candidate

__all__ = ["find_candidates"]


def find_candidates(
    model: TextModel,
    parts: Sequence[str],
    sources: Sequence[Encoded],
    language: int,
    how: Search,
    done: Callable[[int], None] = lambda sentences: None,
    prefixes: Sequence[Prefix] | None = None,
) -> list[list[Candidate]]:
    """The candidates of every part; where nothing is to be translated, the part itself.

    Args:
        model: what translates.
        parts: texts, white space as one space, none of them blank.
        sources: the same in pieces.
        language: the piece that begins every translation.
        how: beam, lengths, and so on.
        done: called now and then with how many more parts are done.
        prefixes: for every part how its translation must begin; such parts are all searched.

    Returns:
        for every part at most ``how.n_best`` and at least one, best first; of those that ended no
        two of one text.
    """
    kept = [
        i for i, part in enumerate(parts) if prefixes is None and _is_kept(model, part, sources[i])
    ]
    others = sorted(set(range(len(parts))) - set(kept))
    best = search(
        model.weights, model.config, [model.row(sources[i]) for i in others], model.pieces,
        language, how, done, [numbers_in(parts[i]) for i in others],
        None if prefixes is None else [prefixes[i] for i in others],
    )  # fmt: skip
    found = dict(zip(others, best, strict=True))
    for i in kept:
        found[i] = [Hypothesis((), 0.0, 0.0)]
    _read_as_cut(model, found, parts, sources, language, how, kept)
    done(len(kept))
    return [_distinct(model, found[i], sources[i], how) for i in range(len(parts))]


def _is_kept(model: TextModel, part: str, source: Encoded) -> bool:
    """Whether there is nothing to translate: no letter but in slots."""
    slots = set(model.vocabulary.slots)
    pieces = zip(source.ids, source.spans, strict=True)
    return not any(
        character.isalpha()
        for piece, (start, end) in pieces
        if piece not in slots
        for character in part[start:end]
    )


def _read_as_cut(
    model: TextModel,
    found: dict[int, list[Hypothesis]],
    parts: Sequence[str],
    sources: Sequence[Encoded],
    language: int,
    how: Search,
    kept: Sequence[int],
) -> None:
    """Sets hypotheses whose text is cut into other pieces to those, and their probability with it.

    Those that were cut off before their end stay as they are, and so do those whose slots would be
    spelt out, being parts of longer words.
    """
    wanted: list[tuple[int, int, list[int]]] = []
    for i, hypotheses in found.items():
        if i in kept:
            wanted.append((i, 0, model.target(parts[i], sources[i])))
            continue
        for k, ids in enumerate(_cut(model, hypotheses, sources[i])):
            if ids is not None and tuple(ids) != hypotheses[k].ids:
                wanted.append((i, k, ids))
    end = model.vocabulary.end
    read = log_probabilities(
        model.weights, model.config, [model.row(sources[i]) for i, _, _ in wanted],
        [[language, *ids, end] for _, _, ids in wanted], model.vocabulary.pad,
    )  # fmt: skip
    for (i, k, ids), each in zip(wanted, read, strict=True):
        total = sum(each)
        found[i][k] = dataclasses.replace(
            found[i][k],
            ids=tuple(ids),
            log_probability=total,
            score=how.normalised(total, len(each)),
        )


def _cut(
    model: TextModel, hypotheses: Sequence[Hypothesis], source: Encoded
) -> list[list[int] | None]:
    """For every hypothesis the pieces its text is cut into; None where it stays as it is."""
    texts = [
        spaced(model.vocabulary.decode(h.ids, source.slots)) if h.finished else ""
        for h in hypotheses
    ]
    if not source.slots:
        pieces = model.vocabulary.encode_plain(texts)
        return [ids if text else None for text, ids in zip(texts, pieces, strict=True)]
    slots = set(model.vocabulary.slots)
    found: list[list[int] | None] = []
    for hypothesis, text in zip(hypotheses, texts, strict=True):
        ids = model.target(text, source)
        same = slots.intersection(ids) == slots.intersection(hypothesis.ids)
        found.append(ids if text and same else None)
    return found


def _distinct(
    model: TextModel, hypotheses: Sequence[Hypothesis], source: Encoded, how: Search
) -> list[Candidate]:
    """The best candidates, each text once."""
    found: dict[str | tuple[int, ...], Candidate] = {}
    for hypothesis in sorted(hypotheses, key=Hypothesis.rank):
        text = spaced(model.vocabulary.decode(hypothesis.ids, source.slots))
        # What was cut off may stop within a character: its pieces tell it apart, not its text.
        name = text if hypothesis.finished else hypothesis.ids
        if text not in found and name not in found:
            found[name] = _candidate(model, hypothesis, text, source)
        if len(found) == how.n_best:
            break
    return list(found.values())


def _candidate(model: TextModel, found: Hypothesis, text: str, source: Encoded) -> Candidate:
    words = zip(model.vocabulary.slots, source.slots, strict=False)
    lost = tuple(word for slot, word in words if slot not in found.ids)
    return Candidate(text, found.log_probability, found.score, found.finished, found.ids, lost)
