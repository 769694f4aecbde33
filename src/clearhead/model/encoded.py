"""What a sentence becomes before a model reads it."""

from __future__ import annotations

from dataclasses import dataclass, field

from clearhead.errors import TextError

__all__ = ["Encoded", "check_unicode"]


@dataclass(frozen=True)
class Encoded:
    """A sentence in pieces.

    Attributes:
        ids: the pieces, without the end.
        spans: for every piece, the characters [from, to) of the sentence it stands for.
        slots: the words behind the slots, the first slot's first.
    """

    ids: list[int]
    spans: list[tuple[int, int]]
    slots: list[str] = field(default_factory=list)


def check_unicode(text: str) -> None:
    """Raises TextError where ``text`` holds a lone surrogate, which is half a character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TextError(
            f"the sentence holds a lone surrogate at character {error.start}, which is no valid "
            "Unicode; read the input as UTF-8"
        ) from None
