"""``clearhead look``: a sentence, its translation, and where each word looks."""

from __future__ import annotations

import warnings
from pathlib import Path

import click

from clearhead.cli.manners import say, small_products, write
from clearhead.cli.options import (
    as_json,
    beam,
    model_folder,
    place,
    sentence_of,
    sentences,
    to_language,
)

__all__ = ["command"]


@click.command(
    "look",
    epilog="""Examples:

\b
  clearhead "The animal didn't cross the street because it was too tired."
  clearhead "The cat saw the dog, and it ran." --word it --to de
  clearhead look --json --layer 3 --head 0 < sentence.txt""",
)
@sentences
@to_language
@click.option(
    "--word",
    "words",
    multiple=True,
    metavar="WORD",
    help="Only this word, closely; it:2 is the second “it”. May be given several times.",
)
@place
@click.option("--cross", is_flag=True, help="Also what the words of the translation looked at.")
@model_folder
@beam
@as_json
def command(
    sentences: tuple[str, ...],
    to: str | None,
    words: tuple[str, ...],
    layer: int | None,
    head: int | None,
    cross: bool,
    folder: Path | None,
    beam: int,
    as_json: bool,
) -> None:
    """Translate a sentence and show which word looks at which.

    Each word is shown with its most telling link: strong, and no habit of its head. The weight is
    the share of a word's attention; what goes to special pieces (the end mark) is stated beside it.
    "clearhead SENTENCE" is the same. Without a sentence, stdin is read.
    """
    text = sentence_of(sentences)
    small_products()
    from clearhead.record.choice import Choice
    from clearhead.record.looking import look

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        record = look(text, folder, to, beam=beam, cross=cross)
    for warning in caught:
        say(str(warning.message))
    choice = Choice(words or None, layer, head)
    if as_json:
        write(record.to_json(choice))
        return
    from clearhead.view.terminal import show

    show(record, choice)
