"""Arguments and options that several commands share."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import click

from clearhead.errors import TextError

__all__ = [
    "as_json",
    "beam",
    "input_lines",
    "model_folder",
    "on_terminal",
    "place",
    "search_options",
    "sentence_of",
    "sentences",
    "stdin_bytes",
    "to_language",
]

Decorator = Callable[[Any], Any]

sentences: Decorator = click.argument("sentences", nargs=-1, metavar='"SENTENCE"')
model_folder: Decorator = click.option(
    "--model",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of another model; the default is the bundled one.",
)
to_language: Decorator = click.option(
    "--to", metavar="fr|de", help="Language of the translation; the default is French."
)
beam: Decorator = click.option(
    "--beam",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    metavar="N",
    help="Width of the search; 1 is greedy.",
)
as_json: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

_SEARCH: tuple[tuple[str, click.ParamType[Any], str], ...] = (
    ("n-best", click.IntRange(1, 64), "The N best of each line, with log-probabilities."),
    ("no-repeat", click.IntRange(0), "No N pieces in a row stand twice; 0 lets them."),
    (
        "length-penalty",
        click.FloatRange(0, 10),
        "Compare log-probability / length^N; 0: no length.",
    ),
    ("min-length", click.IntRange(0, 1024), "At least N pieces."),
    ("max-length", click.IntRange(1, 2**31), "At most N pieces; what has not ended is cut there."),
)


def place(command: Any) -> Any:
    """``--layer`` and ``--head``, both counted from 0."""
    for name in ("head", "layer"):
        command = click.option(
            f"--{name}", type=int, metavar="N", help=f"Only this {name}, counted from 0."
        )(command)
    return command


def search_options(command: Any) -> Any:
    """What a search may be asked besides its beam, named as the fields of ``Search``."""
    for name, kind, meaning in reversed(_SEARCH):
        command = click.option(f"--{name}", type=kind, metavar="N", help=meaning)(command)
    return command


def sentence_of(given: Sequence[str]) -> str:
    """The one sentence of a command: its argument, or what stdin holds.

    Raises:
        click.UsageError: none, or several.
        TextError: stdin is not UTF-8.
    """
    if len(given) > 1:
        raise click.UsageError(
            f"found {len(given)} sentences; put the sentence in quotation marks: "
            f'"{" ".join(given[:4])}{" …" if len(given) > 4 else ""}"'
        )
    if given and given[0] != "-":
        return given[0]
    if not given and on_terminal(sys.stdin):
        raise click.UsageError("found no sentence; put one in quotation marks")
    return "\n".join(text for text, _ in input_lines(stdin_bytes()))


def on_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is a terminal; one that is closed is none."""
    return stream is not None and stream.isatty()


def stdin_bytes() -> Iterable[bytes]:
    """The lines of stdin as bytes; none where it is closed."""
    return sys.stdin.buffer if sys.stdin is not None else ()


def input_lines(stream: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Lines of a stream, as (text, what ended it): "\\n", or "\\r\\n"; the last may lack it.

    Only "\\n" ends a line: U+2028, U+0085, a form feed or NUL are characters like any other. A
    byte order mark before the first line, as some editors set it, is no part of the text.

    Raises:
        TextError: a line that is not UTF-8; those before it have been given.

    Example:
        >>> list(input_lines([b"a\\xe2\\x80\\xa8b\\n", b"\\r\\n", b"c"]))
        [('a\\u2028b', '\\n'), ('', '\\r\\n'), ('c', '\\n')]
    """
    for number, line in enumerate(stream, 1):
        if number == 1 and line.startswith(BOM_UTF8):
            line = line.removeprefix(BOM_UTF8)
            if not line:
                return
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TextError(
                f"line {number} is not UTF-8: byte {line[error.start]:#04x} at {error.start}; "
                "convert the input, for example with iconv -t UTF-8"
            ) from None
        end = "\r\n" if text.endswith("\r\n") else "\n"
        yield text.removesuffix("\n").removesuffix("\r" if end == "\r\n" else ""), end
