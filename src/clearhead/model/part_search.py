"""Lines, or parts of long ones, through the search: text in, candidates out.

What a search finds are pieces; what a reader gets is a text. So hypotheses that spell one text are
one candidate, and its probability is that of the pieces that the text is cut into by itself: then
``score`` of the text gives the same number. Of a trained model, about one translation in a hundred
is spelt in other pieces, and read again for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

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
    *,
    exact: bool = True,
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
        exact: whether probabilities are to be those of the texts, or may be those of the pieces
            that the search wrote: the best text is the same.

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
    chosen = [_distinct(model, found[i], sources[i], how) for i in range(len(parts))]
    for i in kept:
        chosen[i] = [replace(chosen[i][0], text=parts[i])]
    if exact:
        _read_as_cut(model, chosen, sources, language, how, kept)
    done(len(kept))
    return chosen


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
    lost = _lost(model, found.ids, source)
    return Candidate(text, found.log_probability, found.score, found.finished, found.ids, lost)


def _read_as_cut(
    model: TextModel,
    chosen: list[list[Candidate]],
    sources: Sequence[Encoded],
    language: int,
    how: Search,
    kept: Sequence[int],
) -> None:
    """Gives candidates the pieces that their texts are cut into, and the probability of these.

    Those that were cut off before their end stay as they are, and so do those whose own pieces
    would break what was asked of the search, or spell out a slot as part of a longer word.
    """
    wanted: list[tuple[int, int, list[int]]] = []
    for i, candidates in enumerate(chosen):
        for k, ids in enumerate(_cut(model, candidates, sources[i])):
            fits = i in kept or _fits(model, ids, candidates[k], how)
            if fits and tuple(ids) != candidates[k].ids:
                wanted.append((i, k, list(ids)))
    end = model.vocabulary.end
    read = log_probabilities(
        model.weights, model.config, [model.row(sources[i]) for i, _, _ in wanted],
        [[language, *ids, end] for _, _, ids in wanted], model.vocabulary.pad,
    )  # fmt: skip
    for (i, k, ids), each in zip(wanted, read, strict=True):
        total = sum(each)
        score = how.normalised(total, len(each))
        chosen[i][k] = replace(
            chosen[i][k], ids=tuple(ids), log_probability=total, score=score,
            lost=_lost(model, ids, sources[i]),
        )  # fmt: skip
    for i in {i for i, _, _ in wanted}:
        chosen[i].sort(key=lambda c: (not c.finished, len(c.lost), -c.score))


def _cut(
    model: TextModel, candidates: Sequence[Candidate], source: Encoded
) -> Sequence[Sequence[int]]:
    """The pieces that the texts are cut into."""
    texts = [candidate.text for candidate in candidates]
    if source.slots:
        return [model.target(text, source) for text in texts]
    return model.vocabulary.encode_plain(texts)


def _fits(model: TextModel, ids: Sequence[int], candidate: Candidate, how: Search) -> bool:
    """Whether the candidate may be written in these pieces."""
    n = how.no_repeat
    grams = [tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)] if n else []
    slots = set(model.vocabulary.slots)
    return (
        candidate.finished
        and how.min_length <= len(ids)
        and (how.max_length is None or len(ids) <= how.max_length)
        and len(set(grams)) == len(grams)
        and slots.intersection(ids) == slots.intersection(candidate.ids)
    )


def _lost(model: TextModel, ids: Sequence[int], source: Encoded) -> tuple[str, ...]:
    """Words that cannot be spelt and are not carried over."""
    words = zip(model.vocabulary.slots, source.slots, strict=False)
    return tuple(word for slot, word in words if slot not in ids)
