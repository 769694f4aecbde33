"""``clearhead steps``: every computing step of one head, with the model's own numbers."""

from __future__ import annotations

import json
from pathlib import Path

import click

from clearhead.cli.manners import small_products, write
from clearhead.cli.options import as_json, model_folder, place, sentence_of, sentences

__all__ = ["command"]


@click.command(
    "steps",
    epilog="""Examples:

\b
  clearhead steps "The animal didn't cross the street because it was too tired."
  clearhead steps "The cat saw the dog, and it ran." --word it --layer 3 --head 0""",
)
@sentences
@click.option("--word", metavar="WORD", help="The word that looks; it:2 is the second “it”.")
@place
@model_folder
@as_json
def command(
    sentences: tuple[str, ...],
    word: str | None,
    layer: int | None,
    head: int | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Show every computing step of one head, with real numbers.

    From queries, keys and values to the output of the layer, for one word of the sentence, and how
    far that is from what the model's own fused pass gives. The word and the head with the most
    telling link are taken where none is named.
    """
    text = sentence_of(sentences)
    small_products()
    from clearhead.record.tracing import trace

    found = trace(text, word, layer, head, folder)
    if as_json:
        write(json.dumps(found.to_dict(), ensure_ascii=False) + "\n")
        return
    from clearhead.view.steps import show_steps

    show_steps(found)
