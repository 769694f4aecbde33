"""How translations are printed: a line, a table of candidates, or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearhead.model.alternatives import Alternative
    from clearhead.model.translated import Candidate, Translation

__all__ = ["as_line", "as_object", "as_rows"]


def as_line(text: str) -> str:
    """A translation in one line, whatever the model wrote."""
    return text.replace("\r", " ").replace("\n", " ")


def as_rows(number: int, translation: Translation, others: Sequence[Alternative] = ()) -> str:
    """Rows of a table, tabs between columns.

    Candidates have three columns: the line's number, the log-probability and the text, and a
    fourth, "unfinished", where it stops before its end. Alternatives have four: the line's number,
    the probability, the word and the translation it leads to.
    """
    rows = [
        [str(number), f"{c.log_probability:.4f}", as_line(c.text)]
        + ([] if c.finished else ["unfinished"])
        for c in translation.candidates
    ]
    rows += [[str(number), f"{o.probability:.6f}", o.word, as_line(o.translation)] for o in others]
    return "".join("\t".join(row) + "\n" for row in rows)


def as_object(
    translation: Translation,
    language: str,
    *,
    with_candidates: bool = False,
    others: Sequence[Alternative] | None = None,
) -> str:
    """A JSON object in a line of its own."""
    best = translation.candidates[0] if translation.candidates else None
    held: dict[str, Any] = {
        "source": translation.source,
        "translation": translation.text,
        "language": language,
        "log_probability": best and best.log_probability,
        "finished": translation.finished,
        "notes": list(translation.notes),
    }
    if with_candidates:
        held["candidates"] = [_candidate(each) for each in translation.candidates]
    if others is not None:
        held["alternatives"] = [_alternative(each) for each in others]
    return json.dumps(held, ensure_ascii=False) + "\n"


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "translation": candidate.text,
        "log_probability": candidate.log_probability,
        "score": candidate.score,
        "finished": candidate.finished,
    }


def _alternative(other: Alternative) -> dict[str, Any]:
    return {
        "word": other.word,
        "probability": other.probability,
        "translation": other.translation,
        "log_probability": other.log_probability,
        "finished": other.finished,
    }
