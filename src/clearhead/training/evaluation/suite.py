"""Which files are measured, and with what: those given, or all that the documentation quotes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clearhead.errors import ArgumentError

__all__ = ["CORPUS", "Part", "suite"]

CORPUS = Path("corpus/eval")
"""Where the repository's own evaluation files are, seen from its root."""

_CORE = (("core", "1"),)


@dataclass(frozen=True)
class Part:
    """One file to measure.

    Attributes:
        path: of the file.
        where: (column, value) that its rows must have.
        limit: rows at most, spread over the file; None is all.
        align: whether the cross-attention is measured as a word alignment, too.
        reference: the translation of ``path``, line by line, where these are two plain text files;
            None where ``path`` is a table.
    """

    path: Path
    where: tuple[tuple[str, str], ...] = ()
    limit: int | None = None
    align: bool = False
    reference: Path | None = None


_OWN = (
    Part(Path("tatoeba-own-dev.en-{to}.tsv.gz"), align=True),
    Part(Path("tatoeba-own-test.en-{to}.tsv.gz"), align=True),
    Part(Path("tico19-test.en-{to}.tsv.gz"), limit=400),  # long lines: all of them take minutes
    Part(Path("synthetic-it-dev.tsv")),
    Part(Path("winograd_pairs.tsv")),
)
_GIVEN = (
    # Training may have seen the other lines of this test, in tatoeba-extra.
    Part(Path("tatoeba-challenge-test.en-{to}.tsv.gz"), where=_CORE),
    Part(Path("scat-intra.en-{to}.tsv")),
    Part(Path("contrapro-intra.en-{to}.tsv")),
    Part(Path("disceval-anaphora.en-{to}.tsv")),
)


def suite(languages: Sequence[str], data: Path | None = None, corpus: Path = CORPUS) -> list[Part]:
    """All files that the documentation quotes, as far as they are there.

    Args:
        languages: of the model.
        data: folder with the sets that may be used for measuring only and are in no repository of
            ours; None leaves them out.
        corpus: folder of the sets that are.

    Raises:
        ArgumentError: a folder holds none of its files; the message names one.
    """
    found = _found(_OWN, languages, corpus)
    if not found:
        raise ArgumentError(
            f"there is no {corpus} here: give TSV files, or run this in the repository"
        )
    if data is None:
        return found
    given = _found(_GIVEN, languages, data)
    if not given:
        wanted = ", ".join(part.path.name.format(to=languages[0]) for part in _GIVEN)
        raise ArgumentError(f"data: {data} holds none of the files it is for; wanted {wanted}")
    return [*found, *given]


def _found(parts: Sequence[Part], languages: Sequence[str], folder: Path) -> list[Part]:
    named = {folder / part.path.name.format(to=to): part for part in parts for to in languages}
    return [replace(part, path=path) for path, part in named.items() if path.is_file()]
