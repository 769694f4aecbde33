"""Figures as tables of words: first the data, then the ink. Terminal and Markdown show the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Sheet", "label", "percent", "sheets"]

Figures = Mapping[str, Any]
_NAMES = {"fr": "French", "de": "German"}
_NONE = "–"


@dataclass(frozen=True)
class Sheet:
    """One table.

    Attributes:
        title: what it is about; in Markdown the head of its first column.
        columns: heads of the other columns.
        rows: a label and a cell for every column.
        notes: what a reader must know to compare, a sentence each.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def sheets(figures: Figures) -> list[Sheet]:
    """The tables of what :class:`clearhead.training.evaluation.measure.Measuring` found.

    Those about which nothing was measured are left out.
    """
    made = [_translation, _pronouns, _links, _together, _alignment, _gold]
    return [sheet for make in made for sheet in make(figures) if sheet.rows]


def label(entry: Mapping[str, Any]) -> str:
    """What a file is called in a table, with what its rows were chosen by.

    Example:
        >>> label({"file": "a/tatoeba-challenge-test.en-fr.tsv.gz", "where": {"core": "1"}})
        'tatoeba-challenge-test, core 1'
    """
    name = re.sub(r"(\.en(-\w+)?)?(\.(tsv|txt))?(\.gz)?$", "", Path(entry["file"]).name)
    chosen = "".join(f", {column} {value}" for column, value in entry["where"].items())
    return name + chosen


def percent(share: float) -> str:
    """A share from 0 to 1 in words.

    Example:
        >>> percent(0.575)
        '58 %'
    """
    return f"{100 * share + 1e-9:.0f} %"  # halves go up


def _languages(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(entry["to"] for entry in entries if entry["to"]))


def _by_label(entries: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Entries by what their file is called, then by language."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for entry in entries:
        found.setdefault(label(entry), {})[entry["to"]] = entry
    return found


def _named(languages: Sequence[str]) -> tuple[str, ...]:
    return tuple(_NAMES.get(to, to) for to in languages)


def _translation(figures: Figures) -> Iterable[Sheet]:
    entries = figures["translation"]
    languages = _languages(entries)
    rows = []
    for name, by in _by_label(entries).items():
        cells = (
            f"{by[to]['bleu']:.1f} / {by[to]['chrf']:.1f} ({_lines(by[to])})" if to in by else _NONE
            for to in languages
        )
        rows.append((name, *cells))
    signatures = {f"BLEU|{e['bleu_signature']}" for e in entries}
    signatures |= {f"chrF2|{e['chrf_signature']}" for e in entries}
    beams = sorted({entry["beam"] for entry in entries})
    notes = (f"beam {', '.join(map(str, beams))}", *sorted(signatures))
    yield Sheet("Translation: BLEU / chrF", _named(languages), tuple(rows), notes)


def _lines(entry: Mapping[str, Any]) -> str:
    whole = entry["sampled_from"]
    return f"{entry['lines']:,} of {whole:,} lines" if whole else f"{entry['lines']:,} lines"


def _pronouns(figures: Figures) -> Iterable[Sheet]:
    entries = figures["pronouns"]
    languages = _languages(entries)
    rows, notes = [], []
    for name, by in _by_label(entries).items():
        paired = any(entry["pairs"] for entry in by.values())
        chances = " or ".join(sorted({percent(entry["chance"]) for entry in by.values()}))
        asked = [(": sentences" if paired else "", "right", "sentences", chances)]
        asked.append((": both of a pair", "pairs_right", "pairs", "25 %"))
        asked.append((": above the third, too", "every", "sentences", "33 %"))
        for what, right, of, chance in asked:
            held = {to: (entry[right], entry[of]) for to, entry in by.items()}
            told = {to: _part(*pair) for to, pair in held.items() if pair[0] is not None}
            if any(cell != _NONE for cell in told.values()):
                rows.append((name + what, *(told.get(to, _NONE) for to in languages), chance))
        notes += [f"{name}, {_NAMES.get(to, to)}: {each}" for to, each in _each_pronoun(by)]
    columns = (*_named(languages), "by chance")
    yield Sheet("Pronouns: right above contrast", columns, tuple(rows), tuple(notes))


def _each_pronoun(by: Mapping[str, Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    """How often each pronoun is right where it should be, by language."""
    for to, entry in by.items():
        counts = entry["by_pronoun"].items()
        if counts:
            yield to, ", ".join(f"“{p}” {right} of {of}" for p, (right, of) in counts)


def _links(figures: Figures) -> Iterable[Sheet]:
    """The chosen heads, a column for each file; one sheet for "most", one for "more"."""
    entries = figures["heads"]
    files = list(dict.fromkeys(label(entry) for entry in entries))
    heads = _chosen_heads(figures)
    for key, title in (
        ("most", 'Links: "it" looks most at the right noun, of all words'),
        ("more", 'Links: "it" looks more at the right noun than at the other'),
    ):
        rows = []
        for name, kind, to, (layer, head) in heads:
            held = {label(e): e for e in entries if e["kind"] == kind and (e["to"] or None) == to}
            cells = [
                percent(held[f][key][layer][head]) if f in held and held[f][key] else _NONE
                for f in files
            ]
            rows.append((f"{name} ({layer}, {head})", *cells))
        if rows:
            first = {label(e): e for e in reversed(entries) if e["kind"] == "encoder"}
            by_chance = [
                (percent(first[f]["most_chance"]) if key == "most" else "50 %")
                if first[f][key]
                else _NONE
                for f in files
            ]
            rows.append(("by chance", *by_chance))
        read = {label(e): f"{e['sentences']:,}" for e in entries}
        columns = tuple(f"{f} ({read[f]})" for f in files)
        yield Sheet(title, columns, tuple(rows), _told(figures) if key == "most" else ())


def _chosen_heads(figures: Figures) -> list[tuple[str, str, str | None, tuple[int, int]]]:
    """(what it is, kind, language, place) of the guided heads, and of the best other ones."""
    found: list[tuple[str, str, str | None, tuple[int, int]]] = []
    if figures["heads"]:
        found += [
            ("guided head", "encoder", None, (layer, head))
            for layer, head in figures["model"]["guided"]
        ]
    for each in figures["chosen"]:
        name = "best other head"
        if each["kind"] == "cross":
            name = f"best cross head, {_NAMES.get(each['to'], each['to'])}"
        found.append((name, each["kind"], each["to"], (each["head"][0], each["head"][1])))
    return found


def _told(figures: Figures) -> tuple[str, ...]:
    guided = [f"({layer}, {head})" for layer, head in figures["model"]["guided"]]
    told = f"guided in training: {' '.join(guided)}; no other was" if guided else "none was guided"
    files = dict.fromkeys(label(each | {"where": {}}) for each in figures["chosen"])
    chosen = (f"the others were chosen on {', '.join(files)}",) if files else ()
    return (f"heads as (layer, head), from 0; {told}", *chosen)


def _together(figures: Figures) -> Iterable[Sheet]:
    entries = [entry for entry in figures["pronouns"] if entry["with_links"]]
    names = ("both", "pronoun_alone", "link_alone", "neither")
    rows = []
    for entry in entries:
        held = entry["with_links"]
        of = sum(held[name] for name in names)
        cells = [f"{held[name]:,} ({percent(held[name] / max(of, 1))})" for name in names]
        rows.append((_in(entry), *cells))
    which = "guided head" if any(e["with_links"]["guided"] for e in entries) else "best head"
    columns = ("both right", "pronoun alone", "link alone", "neither")
    yield Sheet(f"Pronoun and link of the {which} (most, of all words)", columns, tuple(rows))


def _alignment(figures: Figures) -> Iterable[Sheet]:
    entries = [entry for entry in figures["alignment"] if entry["known"]]
    rows = []
    for entry in entries:
        name = f"{_in(entry)}: {entry['known']:,} {entry['kind']}"
        same = percent(entry["diagonal"])
        rows.append((name, *map(percent, entry["written"]), same))
        rows.append((f"{_in(entry)}: one step later", *map(percent, entry["later"]), same))
    columns = (*_layers(entries), "same place")
    yield Sheet("Alignment: the strongest link leads to the right word", columns, tuple(rows))


def _gold(figures: Figures) -> Iterable[Sheet]:
    entries = [entry for entry in figures["alignment"] if entry["gold"]]
    rows = []
    for entry in entries:
        for reading, when in (("written", ""), ("later", ", one step later")):
            for key, what in (("aer", "AER"), ("precision", "precision"), ("recall", "recall")):
                cells = (f"{100 * share:.1f}" for share in entry["gold"][reading][key])
                rows.append((f"{_in(entry)}: {what}{when}", *cells))
    yield Sheet("Alignment: against marked links", _layers(entries), tuple(rows))


def _in(entry: Mapping[str, Any]) -> str:
    return f"{label(entry)}, {_NAMES.get(entry['to'], entry['to'])}"


def _layers(entries: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(f"layer {n}" for n in range(len(entries[0]["written"]) if entries else 0))


def _part(right: int, of: int) -> str:
    return f"{right:,} of {of:,} ({percent(right / of)})" if of else _NONE
