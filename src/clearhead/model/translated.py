"""What comes of a line: its translation, the candidates, and what was done to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clearhead.model.encoded import Encoded
from clearhead.model.hypotheses import Search
from clearhead.model.splitting import LONGEST
from clearhead.model.words import LONGEST_WORD

__all__ = ["Candidate", "LineWarning", "Translation", "joined"]


class LineWarning(UserWarning):
    """A line was not translated as it stands: it was cut, or a part of it carried over."""


@dataclass(frozen=True)
class Candidate:
    """One translation of a sentence.

    Attributes:
        text: the translation.
        log_probability: natural logarithm, the end included if it was reached; reading the text
            again (forced decoding, as ``Translator.score`` does) gives the same number.
        score: what candidates are compared by: ``log_probability`` / length^length_penalty.
        finished: False where it stops before its end: at the greatest length, or where nothing
            more may be written.
        ids: its pieces.
        lost: words of the source that cannot be spelt and that it does not carry over.
    """

    text: str
    log_probability: float
    score: float
    finished: bool
    ids: tuple[int, ...]
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class Translation:
    """What came of one line.

    Attributes:
        source: the line.
        text: its translation; empty for a blank line.
        candidates: the n best, best first; none for a blank line. Of a line that was cut, those
            of its parts are put together, and their numbers added up.
        notes: what a reader must know, one sentence each: that the line was cut, what was carried
            over as it is or lost, whether the translation stops before its end.
    """

    source: str
    text: str
    candidates: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether the translation reached its end."""
        return not self.candidates or self.candidates[0].finished


def joined(
    text: str,
    sources: Sequence[Encoded],
    found: Sequence[Sequence[Candidate]],
    how: Search | None = None,
) -> Translation:
    """A line's translation out of those of its parts.

    Args:
        text: the line.
        sources: its parts in pieces.
        found: the candidates of each part, best first.
        how: how they were searched; where ``max_length`` was asked for, reaching it is no news.
    """
    how = how or Search()
    best = [candidates[0] for candidates in found]
    notes = []
    if len(sources) > 1:
        pieces = sum(len(source.ids) for source in sources)
        notes.append(
            f"{pieces:,} pieces are more than {LONGEST}: translated in {len(sources)} parts"
        )
    runs = [word for source in sources for word in source.slots if len(word) > LONGEST_WORD]
    lost = [word for candidate in best for word in candidate.lost]
    kept = [word for word in runs if word not in lost]
    notes += [f"{len(word):,} characters without a space are carried over" for word in kept]
    notes += [f"{_short(word)} is not carried over" for word in lost]
    if how.max_length is None:
        notes += [
            f"the translation stops after {len(candidate.ids)} pieces without its end"
            for candidate in best
            if not candidate.finished
        ]
    candidates = tuple(_together(found, how.n_best))
    return Translation(text, candidates[0].text if candidates else "", candidates, tuple(notes))


def _together(found: Sequence[Sequence[Candidate]], count: int) -> list[Candidate]:
    """The best candidates of a line out of those of its parts."""
    best = list(found[0]) if found else []
    for part in found[1:]:
        both = [_after(one, other) for one in best for other in part]
        best = sorted(both, key=lambda c: (not c.finished, len(c.lost), -c.score))[:count]
    return best


def _after(one: Candidate, other: Candidate) -> Candidate:
    return Candidate(
        " ".join(text for text in (one.text, other.text) if text),
        one.log_probability + other.log_probability,
        one.score + other.score,
        one.finished and other.finished,
        one.ids + other.ids,
        one.lost + other.lost,
    )


def _short(word: str) -> str:
    return repr(word if len(word) <= 40 else word[:39] + "…")
