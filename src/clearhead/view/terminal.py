"""A record in a terminal: where each word looks, as a list with bars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.text import Text

from clearhead.record.census import GUIDED_WORD, census, telling_links
from clearhead.record.choice import Choice
from clearhead.record.seen import Seen
from clearhead.record.sight import Sight
from clearhead.view.characters import printable
from clearhead.view.parts import (
    ACCENT,
    GUIDED,
    QUIET,
    STRONG,
    ascii_alone,
    bar,
    console_for,
    fitted,
    paragraph,
    percent,
    printed_width,
    shortened,
)
from clearhead.view.rows import columns_of, name_width, row_of

__all__ = ["LANGUAGES", "heading", "show", "special_name"]

LANGUAGES = {"fr": "French", "de": "German", "en": "English"}
_HEADS = 3  # shown for one word
_TARGETS = 3  # words that it looks at, shown in each of them
_BEST = "its most telling link in"
_FAINT = 0.005  # below, a link is not drawn


def show(record: Seen, choice: Choice | None = None, *, console: Console | None = None) -> None:
    """Prints a record.

    Args:
        record: what :func:`clearhead.look` returned.
        choice: the words to look at closely, in their most telling heads, and where. Without words
            every one is shown with its most telling link.
        console: where to print; None is the standard output.
    """
    choice, console = choice or Choice(), console or console_for()
    chosen = choice.indices(record.encoder.queries)
    lines = [*heading(record, console), Text()]
    if chosen is None:
        lines += _every_word(record, choice, console)
    for index in chosen or ():
        lines += _one_word(record, index, choice, console)
    lines += _about_guiding(record, console)
    lines += _across(record, choice, console)
    for line in lines:
        console.print(line, soft_wrap=True)


def heading(record: Seen, console: Console) -> Iterator[Text]:
    """The sentence and its translation."""
    yield Text()
    yield from paragraph(console, shortened(record.sentence), STRONG)
    if record.translation is not None:
        found = Text(printable(shortened(record.translation)), style=ACCENT)
        language = LANGUAGES.get(record.language or "", record.language or "")
        found.append(f"  {language}", style=QUIET)
        yield from paragraph(console, found)


def special_name(record: Seen) -> str:
    """What to call the pieces that stand for no characters."""
    special = record.encoder.keys.special
    if len(special) == 1 and record.pieces[-1].span is None:
        return "end mark"
    return "special pieces"


def _every_word(record: Seen, choice: Choice, console: Console) -> Iterator[Text]:
    """One line a word: its most telling link."""
    where = _where(record.encoder, choice)
    if choice.layer is not None and choice.head is not None:
        title = f"Where each word looks in {where}: its strongest link to another word."
    else:
        title = f"Where each word looks: {_BEST} {where}."
    yield from paragraph(console, title)
    yield Text()
    yield from _table(record, record.encoder, telling_links(record, choice), console)


def _across(record: Seen, choice: Choice, console: Console) -> Iterator[Text]:
    """One line for each word of the translation: what it looked at in the sentence."""
    if record.cross is None:
        return
    where = _where(record.cross, choice)
    chosen = choice.indices(record.cross.keys)
    if chosen is None:
        title = f"Where each word of the translation looked as it was written: {_BEST} {where}."
    else:
        names = " or ".join(dict.fromkeys(_quoted(record.words[i]) for i in chosen))
        title = f"Which words of the translation looked mostly at {names}: {_BEST} {where}."
    yield from paragraph(console, title)
    yield Text()
    nothing = "None did."
    if not choice.is_in(record.cross):
        nothing = f"The translation looks in {_where(record.cross, Choice())} only."
    links = telling_links(record, choice, cross=True)
    yield from _table(record, record.cross, links, console, nothing)


def _table(
    record: Seen,
    sight: Sight,
    links: list[dict[str, Any]],
    console: Console,
    nothing: str = "There is no other word to look at.",
) -> Iterator[Text]:
    best: dict[int, dict[str, Any]] = {}
    for link in links:
        best.setdefault(link["from_index"], link)
    if not best:
        yield from paragraph(console, nothing, QUIET)
        yield Text()
        return
    name = special_name(record)
    columns = columns_of((*sight.queries.names, *sight.keys.names), console.width, len(name))
    yield row_of(columns, ("word", "looks at", "", "weight", "layer", "head", name), QUIET)
    for i, link in sorted(best.items()):
        place = link["layer"], link["head"]
        strip = bar(link["weight"], columns[2], ascii_alone(console))
        texts = (link["from"], link["to"], strip, percent(link["weight"]),
                 *map(str, place), percent(sight.special[(*place, i)]))  # fmt: skip
        yield row_of(columns, texts, guided=sight is record.encoder and place in record.guided)
    yield Text()
    one = "is" if name == "end mark" else "are"
    rest = "the word itself and other words" if sight is record.encoder else "other words"
    yield from paragraph(console, f"The {name} {one} set aside. The rest goes to {rest}.", QUIET)


def _one_word(record: Seen, index: int, choice: Choice, console: Console) -> Iterator[Text]:
    """A few heads, most telling first, with the strongest links of the word in each."""
    links = telling_links(record, replace(choice, words=(index,)))
    name = _quoted(record.words[index])
    line = Text(name[0]).append(name[1:-1], STRONG).append(name[-1])
    if record.words.count(record.words[index]) > 1:
        line.append(f", word {index + 1} of {len(record.words)},")
    line.append(" looks")
    named = choice.layer is not None or choice.head is not None
    shown = links if named else links[:_HEADS]
    if shown is not links and len(links) > len(shown):
        line.append(f", in its most telling {len(shown)} of {len(links)} heads")
    yield from paragraph(console, line.append(":"))
    yield Text()
    if not links:
        yield from paragraph(console, "There is no other word to look at.", QUIET)
        yield Text()
    mostly = {(each.layer, each.head): each.mostly for each in census(record)}
    for link in shown:
        place = link["layer"], link["head"]
        yield from _in_one_head(record, index, place, mostly[place], console)
        yield Text()


def _in_one_head(
    record: Seen, index: int, place: tuple[int, int], mostly: str, console: Console
) -> Iterator[Text]:
    sight = record.encoder
    row = sight.weights[place][index]
    others = sorted((j for j in range(len(row)) if j != index), key=lambda j: -row[j])[:_TARGETS]
    others = [j for j in others if j == others[0] or row[j] >= _FAINT]
    special, own = float(sight.special[place][index]), float(row[index])
    rest = max(1 - special - own - float(sum(row[j] for j in others)), 0.0)
    title = Text().append(f"layer {place[0]} · head {place[1]}", ACCENT)
    if place in record.guided:
        title.append("  guided", GUIDED)
    elif mostly != "other words":
        title.append(f"  mostly looks at {mostly}", QUIET)
    yield from paragraph(console, title)
    wide = name_width(record.words)
    room = max(min(console.width - wide - 16, 40), 8)
    for j in others:
        line = Text("    ").append(fitted(record.words[j], wide)).append("  ")
        line.append(fitted(bar(row[j], room, ascii_alone(console)), room), ACCENT)
        yield line.append(fitted(percent(row[j]), 7, right=True))
    left = f"{special_name(record)} {percent(special)}, all else {percent(rest)}"
    yield from paragraph(console, f"itself {percent(own)}, {left}", QUIET, indent=4)


def _about_guiding(record: Seen, console: Console) -> Iterator[Text]:
    if not record.guided:
        return
    names = " and ".join(f"layer {layer} head {head}" for layer, head in record.guided)
    line = Text("guided", GUIDED).append(
        f": training pulled {names} to what “{GUIDED_WORD}” ", QUIET
    )
    line.append("stands for, no other.", QUIET)
    yield from paragraph(console, line)
    yield Text()


def _where(sight: Sight, choice: Choice) -> str:
    layer, head = choice.layer, choice.head
    if layer is not None and head is not None:
        return f"layer {layer} head {head}"
    if layer is not None:
        return f"the {sight.heads} heads of layer {layer}"
    layers = f"{len(sight.observations)} layer{'s' * (len(sight.observations) != 1)}"
    return f"head {head} of {layers}" if head is not None else f"{layers} of {sight.heads} heads"


def _quoted(word: str) -> str:
    """A word as it stands in a sentence of this view; a very long one is cut."""
    return f"“{fitted(word, min(printed_width(word[:200]), 40)).strip()}”"
