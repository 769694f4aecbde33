"""``clearhead evaluate``: BLEU and chrF, right pronouns, what heads look at, word alignment."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clearhead.cli.figures import show_figures
from clearhead.cli.manners import small_products, write
from clearhead.cli.options import as_json, beam, model_folder
from clearhead.errors import ArgumentError

if TYPE_CHECKING:
    from clearhead.training.evaluation.suite import Part

__all__ = ["command"]

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _conditions(
    context: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """``--where COLUMN=VALUE`` as pairs."""
    found = []
    for each in given:
        column, sign, value = each.partition("=")
        if not (column and sign):
            raise click.BadParameter(f"found {each!r}; wanted COLUMN=VALUE, as in core=1")
        found.append((column, value))
    return tuple(found)


@click.command(
    "evaluate",
    epilog="""Examples:

\b
  clearhead evaluate
  clearhead evaluate corpus/eval/winograd_pairs.tsv --to fr --json
  clearhead evaluate test.en-fr.tsv.gz --where core=1 --model runs/first/model""",
)
@click.argument("files", nargs=-1, type=_FILE)
@click.option("--to", multiple=True, help="Language; may be repeated  [default: all of the model]")
@model_folder
@beam
@click.option("--limit", type=click.IntRange(1), help="Rows of each file, spread over it.")
@click.option(
    "--where", "conditions", multiple=True, metavar="COLUMN=VALUE", callback=_conditions,
    help="Only rows with this value in that column; may be repeated.",
)  # fmt: skip
@click.option(
    "--scoring", type=click.Choice(["13a", "moses"]), default="13a", show_default=True,
    help="How BLEU splits words: as sacreBLEU does, or lower-cased by Moses' tokenizer, as the "
    "literature on Multi30k does.",
)  # fmt: skip
@click.option("--align", is_flag=True, help="Measure the cross-attention as word alignment, too.")
@click.option("--gold", type=_FILE, help="Marked alignments of the one file; implies --align.")
@click.option(
    "--reference", type=_FILE,
    help="The translation of the one file, line by line, where these are two plain text files.",
)  # fmt: skip
@click.option("--dev", type=_FILE, help="The file that chooses the best unguided heads.")
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the sets that may only be measured with, beside those of corpus/eval.",
)  # fmt: skip
@click.option(
    "--page", "pages", multiple=True, metavar="PAGE[#NAME]",
    help="Write the tables into this Markdown page, too, between its marks; may be repeated.",
)  # fmt: skip
@click.option("--figures", type=_FILE, help="Show what --json printed, and measure nothing.")
@as_json
def command(
    files: tuple[Path, ...],
    to: tuple[str, ...],
    folder: Path | None,
    beam: int,
    pages: tuple[str, ...],
    figures: Path | None,
    as_json: bool,
    **how: Any,
) -> None:
    """Measure a translation model on TSV files whose first line names the columns.

    A file with the columns en and fr (or de) is translated and scored with sacreBLEU. One with
    fr_contrast is a test of pronouns: does the model give the right translation the higher score?
    One with antecedent_en shows which heads look from "it" at the right noun. Without FILES, those
    of corpus/eval are read.
    """
    small_products()
    from clearhead.training.evaluation.page import markdown, rewrite
    from clearhead.training.evaluation.sheets import sheets

    for page in pages:
        rewrite(page, "", write=False)  # a page without marks is told before the work is done
    if figures is not None:
        if files:
            raise click.UsageError("--figures measures nothing; leave out the files")
        found = _read_figures(figures)
    else:
        found = _measured(files, to, folder, beam, **how)
    tables = sheets(found)
    for page in pages:
        rewrite(page, markdown(tables))
    if as_json:
        write(json.dumps(found, ensure_ascii=False) + "\n")
    else:
        show_figures(found, tables)


def _measured(
    files: tuple[Path, ...],
    to: tuple[str, ...],
    folder: Path | None,
    beam: int,
    *,
    limit: int | None,
    conditions: tuple[tuple[str, str], ...],
    scoring: str,
    align: bool,
    gold: Path | None,
    reference: Path | None,
    dev: Path | None,
    data: Path | None,
) -> dict[str, Any]:
    from clearhead.model.translator import load_translator
    from clearhead.training.evaluation.measure import Measuring

    translator = load_translator(folder)
    languages = to or tuple(translator.config.languages)
    for tag in languages:
        translator.vocabulary.language(tag)
    for name, given in (("--gold", gold), ("--reference", reference)):
        if given is not None and (len(files) != 1 or len(languages) != 1):
            raise click.UsageError(f"{name} belongs to one file in one language, with --to")
    parts = _parts(files, languages, limit, conditions, align, data)
    if reference is not None:
        parts = [dataclasses.replace(part, reference=reference) for part in parts]
    if dev is not None and dev not in [part.path for part in parts]:
        parts = [*_parts((dev,), languages, limit, (), False, None), *parts]
    with _progress() as watch:
        how = Measuring(translator, languages, beam=beam, scoring=scoring, watch=watch)
        return how.run(parts, dev=dev, gold=gold)


def _parts(
    files: tuple[Path, ...],
    languages: tuple[str, ...],
    limit: int | None,
    conditions: tuple[tuple[str, str], ...],
    align: bool,
    data: Path | None,
) -> list[Part]:
    """The files given, or all of the suite."""
    from clearhead.training.evaluation.suite import Part, suite

    if files:
        if data is not None:
            raise click.UsageError("--data adds files to those of corpus/eval; leave FILES out")
        return [Part(path, conditions, limit, align) for path in files]
    if conditions:
        raise click.UsageError("--where needs FILES: those of corpus/eval have no such columns")
    try:
        parts = suite(languages, data)
    except ArgumentError as error:
        raise click.UsageError(str(error)) from None
    if limit is None:
        return parts
    return [dataclasses.replace(part, limit=min(limit, part.limit or limit)) for part in parts]


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str, int], Callable[[int], None]]]:
    """Bars on a terminal, one for what is being done; nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()
    with Progress(
        *columns, console=console, disable=not console.is_terminal, transient=True
    ) as progress:

        def watch(what: str, total: int) -> Callable[[int], None]:
            for task in progress.task_ids:
                progress.remove_task(task)
            task = progress.add_task(what, total=total)
            return lambda more: progress.advance(task, more)

        yield watch


def _read_figures(path: Path) -> dict[str, Any]:
    """What ``--json`` printed, read again."""
    from clearhead.training.evaluation.measure import SECTIONS

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{path} cannot be read as JSON: {error}") from None
    if not isinstance(found, dict) or set(found) != set(SECTIONS):
        raise click.UsageError(
            f"{path} holds no figures; wanted what clearhead evaluate --json printed, with "
            f"{', '.join(SECTIONS)}"
        )
    return found
