"""``clearhead evaluate``: BLEU and chrF, right pronouns, and the heads that find antecedents."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from clearhead.cli.manners import small_products, write
from clearhead.cli.options import as_json, beam, model_folder

__all__ = ["command"]

_CORPUS = Path("corpus/eval")
_FILES = ("tatoeba-own-test.en-{to}.tsv.gz", "winograd_pairs.tsv", "synthetic-it-dev.tsv")


@click.command(
    "evaluate", epilog="Example: clearhead evaluate corpus/eval/winograd_pairs.tsv --to fr --json"
)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--to", multiple=True, help="Language; may be repeated  [default: all of the model]")
@model_folder
@beam
@click.option("--limit", type=click.IntRange(1), help="Lines to translate, spread over each file.")
@as_json
def command(
    files: tuple[Path, ...],
    to: tuple[str, ...],
    folder: Path | None,
    beam: int,
    limit: int | None,
    as_json: bool,
) -> None:
    """Measure a translation model on TSV files whose first line names the columns.

    A file with the columns en and fr (or de) is translated and scored with sacreBLEU. One with
    fr_contrast is a test of pronouns: does the model give the right translation the higher score?
    One with antecedent_en and other_en shows which heads look from "it" at the right noun. Without
    FILES, those of corpus/eval are read.
    """
    small_products()
    from clearhead.model.translator import load_translator
    from clearhead.training.evaluate import read_table

    translator = load_translator(folder)
    languages = to or tuple(translator.config.languages)
    for tag in languages:
        translator.vocabulary.language(tag)
    found: dict[str, Any] = {"translation": [], "pronouns": [], "heads": []}
    for path in files or _default_files(languages):
        rows = read_table(path)
        known = _measure(found, path, rows, translator, languages, beam, limit)
        if not known:
            raise click.UsageError(
                f"{path} has the columns {', '.join(rows[0]) if rows else 'of no rows'}; wanted "
                f"en and one of {', '.join(languages)}, or antecedent_en and other_en"
            )
    if as_json:
        write(json.dumps(found, ensure_ascii=False) + "\n")
    else:
        _show(found)


def _measure(
    found: dict[str, Any],
    path: Path,
    rows: list[dict[str, str]],
    translator: Any,
    languages: Sequence[str],
    beam: int,
    limit: int | None,
) -> bool:
    """Adds what a file can tell to ``found``; False where it can tell nothing."""
    from clearhead.training.evaluate import bleu_chrf, contrast, heads, sample, scorers

    columns = set(rows[0]) if rows else set()
    known = False
    for to in languages:
        about = {"file": str(path), "to": to}
        if {"en", to, f"{to}_contrast"} <= columns:
            answers = dataclasses.asdict(contrast(translator, rows, to))
            found["pronouns"].append(about | answers)
            known = True
        elif {"en", to} <= columns:
            scorers()  # a missing library is told before the work is done
            chosen = sample(rows, limit or len(rows))
            start = time.perf_counter()
            said = _translated(translator, [row["en"] for row in chosen], to, beam)
            took = time.perf_counter() - start
            scores = dataclasses.asdict(bleu_chrf(said, [row[to] for row in chosen]))
            speed = {"beam": beam, "sentences_per_second": len(said) / took}
            found["translation"].append(about | scores | speed)
            known = True
    if {"en", "antecedent_en", "other_en"} <= columns:
        looked = heads(translator, rows)
        found["heads"].append(
            {
                "file": str(path),
                "sentences": looked.sentences,
                "guided": [list(place) for place in looked.guided],
                "share": looked.share.tolist(),
                "weight": looked.weight.tolist(),
            }
        )
        known = True
    return known


def _translated(translator: Any, texts: list[str], to: str, beam: int) -> list[str]:
    """The translations, with a bar on a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task(f"to {to}", total=len(texts))
        found = translator.translations(
            texts, to, beam=beam, done=lambda more: progress.advance(task, more)
        )
    return [translation.text for translation in found]


def _default_files(languages: Sequence[str]) -> list[Path]:
    paths = [_CORPUS / name.format(to=to) for name in _FILES for to in languages]
    found = [path for path in dict.fromkeys(paths) if path.is_file()]
    if not found:
        raise click.UsageError(
            f"there is no {_CORPUS} here: give TSV files, or run this in the repository"
        )
    return found


def _show(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if found["translation"]:
        table = Table("file", "to", "lines", "BLEU", "chrF", "beam", "sentences/s", box=None)
        for row in found["translation"]:
            table.add_row(
                Path(row["file"]).name, row["to"], f"{row['lines']:,}", f"{row['bleu']:.1f}",
                f"{row['chrf']:.1f}", str(row["beam"]), f"{row['sentences_per_second']:.1f}",
            )  # fmt: skip
        console.print("Translation", style="bold")
        console.print(table)
        console.print(f"BLEU|{found['translation'][0]['bleu_signature']}", soft_wrap=True)
        console.print(f"chrF2|{found['translation'][0]['chrf_signature']}\n", soft_wrap=True)
    if found["pronouns"]:
        table = Table("file", "to", "sentences right", "pairs right", box=None)
        for row in found["pronouns"]:
            pairs = _part(row["pairs_right"], row["pairs"]) if row["pairs"] else "–"
            right = _part(row["right"], row["sentences"])
            table.add_row(Path(row["file"]).name, row["to"], right, pairs)
        console.print("Pronouns: right above contrast (chance 50 %, pairs 25 %)", style="bold")
        console.print(table)
        console.print()
    for row in found["heads"]:
        _show_heads(console, row)


def _show_heads(console: Any, row: dict[str, Any]) -> None:
    from rich.table import Table

    count = len(row["share"][0])
    table = Table("layer", *(f"head {h}" for h in range(count)), box=None)
    for layer, shares in enumerate(row["share"]):
        cells = [
            f"{100 * share:.0f} %{' *' if [layer, h] in row['guided'] else ''}"
            for h, share in enumerate(shares)
        ]
        table.add_row(str(layer), *cells)
    name = Path(row["file"]).name
    title = f'Heads: how often "it" looks more at the right noun, {row["sentences"]} of {name}'
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)
    marked = " ".join(f"({layer}, {head})" for layer, head in row["guided"])
    told = f"* guided in training: {marked}; no other was" if marked else "no head was guided"
    console.print(f"{told}; chance is 50 %\n")


def _part(right: int, of: int) -> str:
    return f"{right} of {of} ({100 * right / of:.0f} %)" if of else "–"
