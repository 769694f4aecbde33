"""``clearhead translate``: line in, line out."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from clearhead.cli.manners import WRONG_USE, say, small_products, write
from clearhead.cli.options import (
    as_json,
    beam,
    input_lines,
    model_folder,
    on_terminal,
    search_options,
    sentences,
    stdin_bytes,
    to_language,
)
from clearhead.cli.printing import as_line, as_object, as_rows
from clearhead.cli.products import workers
from clearhead.errors import ArgumentError, TextError

__all__ = ["command"]

_AT_ONCE = 256  # lines: enough to sort by length, few enough to see them come


@click.command(
    "translate",
    epilog="""Examples:

\b
  clearhead translate "How are you?"
  clearhead translate --to de < english.txt > german.txt
  clearhead translate --n-best 3 --no-repeat 3 "I like rain."
  clearhead translate --alternatives livre "The book is on the table.\"""",
)
@sentences
@to_language
@beam
@search_options
@click.option(
    "--alternatives",
    "word",
    metavar="WORD",
    help="What could stand in the place of this word of the translation; il:2 is the second “il”.",
)
@model_folder
@as_json
def command(
    sentences: tuple[str, ...],
    to: str | None,
    word: str | None,
    folder: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Translate lines into French or German.

    Reads stdin and writes stdout, a line for each line, blank lines too; or translates the
    sentences given. Lines end at a line feed alone. A line that is too long for the model is
    translated in parts, and stderr says so. With --n-best or --alternatives a table comes out: each
    row begins with the number of its line. Where no translation has the word of --alternatives, the
    exit status is 2.
    """
    small_products()
    from clearhead.model.translator import load_translator

    how = {name: value for name, value in options.items() if value is not None}
    if sentences == ("-",):  # as of look: what stdin holds
        sentences = ()
    listed = "n_best" in how
    translator = load_translator(folder)
    language = to or translator.config.languages[0]
    if language not in translator.config.languages:
        wanted = " or ".join(translator.config.languages)
        raise click.UsageError(f"--to is {language!r}; this model translates to {wanted}")
    lines = ((text, "\n") for text in sentences) if sentences else input_lines(stdin_bytes())
    progress = _Progress(shown=not sentences)
    progress.show()
    size = 1 if not sentences and on_terminal(sys.stdin) else _AT_ONCE
    number, asked, met = 0, False, False
    try:
        for batch in _batches(lines, size):
            texts = [text for text, _ in batch]
            found = translator.translations(
                texts,
                language,
                done=progress.add,
                exact=as_json or listed or word is not None,
                workers=workers(),
                **how,
            )
            progress.clear()
            for (_, end), translation in zip(batch, found, strict=True):
                number += 1
                where = "" if sentences else f"line {number}: "
                _remark(translation, where)
                others = _others(translator, translation, word, language, how, where)
                asked = asked or (others is not None and bool(translation.text))
                met = met or bool(others)
                if as_json:
                    write(as_object(translation, language, with_candidates=listed, others=others))
                elif listed or others is not None:
                    write(as_rows(number, translation, others or ()))
                else:
                    write(as_line(translation.text) + end)
            progress.show()
    finally:
        progress.clear()
    return WRONG_USE if asked and not met else 0


def _others(
    translator: Any,
    translation: Any,
    word: str | None,
    language: str,
    how: dict[str, Any],
    where: str,
) -> Any:
    """The alternatives that were asked for; none where the translation has no such word."""
    if word is None:
        return None
    if not translation.text:
        return []
    from clearhead.record.words import Words

    how = {name: value for name, value in how.items() if name != "n_best"}
    try:
        at = Words(translation.text, ()).find(word)[0]
        return translator.alternatives(translation.source, translation.text, at, language, **how)
    except ArgumentError as error:
        told = str(error).removeprefix("word: ").replace("; the sentence", "; the translation")
        say(f"{where}--alternatives: {told}")
        return []


def _remark(translation: Any, where: str) -> None:
    """What the reader of a line must know, on stderr; the same of many parts only once."""
    for note, times in Counter(translation.notes).items():
        say(f"{where}{note}" + (f" ({times} times)" if times > 1 else ""))


def _batches(lines: Iterator[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    """Lines in groups of ``size``; those before a line that cannot be read come out first."""
    batch = []
    try:
        for line in lines:
            batch.append(line)
            if len(batch) == size:
                yield batch
                batch = []
    except TextError:
        yield batch
        raise
    if batch:
        yield batch


class _Progress:
    """How many lines are done, in the last line of a terminal; silent anywhere else."""

    def __init__(self, shown: bool) -> None:
        self.shown = shown and on_terminal(sys.stderr) and not on_terminal(sys.stdin)
        self.done, self.start = 0, time.monotonic()

    def add(self, lines: int) -> None:
        """Counts lines that are translated."""
        self.done += lines
        self.show()

    def show(self) -> None:
        """Shows the count and the speed."""
        speed = self.done / max(time.monotonic() - self.start, 1e-9)
        self._put(f"{self.done:,} lines, {speed:,.1f} a second")

    def clear(self) -> None:
        """Takes it away, so that what is printed stands alone."""
        self._put("")

    def _put(self, text: str) -> None:
        if self.shown:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
