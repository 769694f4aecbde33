"""A trace in a terminal: the eight steps of one head, with the model's own numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from clearhead.record.tracing import Trace
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
)
from clearhead.view.terminal import heading

__all__ = ["show_steps"]

_INDENT = 5
_LABEL = 19  # columns of the longest label, "value of …" and a word
_LONGEST_NAME = 12
_SHORTEST_BAR = 5  # columns; where there are fewer, none is drawn
_TOLD = 3  # keys and values whose numbers are written out


def show_steps(trace: Trace, console: Console | None = None) -> None:
    """Prints every step of one head, from what enters to what leaves, for the word that looks."""
    console = console or console_for()
    for part in (_opening, _projections, _scores_and_weights, _mixing, _leaving, _closing):
        for line in part(trace, console):
            line.rstrip()
            console.print(line, soft_wrap=True)


def _opening(trace: Trace, console: Console) -> Iterator[Text]:
    yield from heading(trace.record, console)
    yield Text()
    line = Text("How “").append(_word(trace), STRONG).append("” looks, in ")
    line.append(f"layer {trace.layer} · head {trace.head}", ACCENT)
    if trace.guided:
        line.append(" (guided)", GUIDED)
    yield from paragraph(console, line.append(": every step with the model's own numbers."))
    yield Text()
    n, width = trace.x.shape
    yield from _title("0", "what enters", "X", f"({n}, {width})", console)
    yield from _says(
        console, f"The sentence was cut into {n} pieces; each is a vector of {width} numbers."
    )
    yield _numbers(f"{_piece(trace, trace.query)}", trace.x[trace.query], console)
    yield Text()


def _projections(trace: Trace, console: Console) -> Iterator[Text]:
    n, d_k = trace.steps.queries.shape[1:]
    d_v = trace.steps.values.shape[-1]
    shape = f"({n}, {d_k})" if d_k == d_v else f"({n}, {d_k}) ({n}, {d_v})"
    yield from _title(
        "1", "queries, keys, values", "Q = X W_Q, K = X W_K, V = X W_V", shape, console
    )
    size = " × ".join(map(str, trace.matrices["w_q"].shape))
    yield from _says(
        console,
        f"Three trained matrices of this head, {size}, make of each vector a query (what it asks), "
        f"a key (what it is found by) and a value (what it passes on){_biased(trace)}.",
    )
    yield _numbers(f"query of {_piece(trace, trace.query)}", trace.row("queries"), console)
    for name in ("keys", "values"):
        for j in _strongest(trace):
            held = getattr(trace.steps, name)[trace.head, j]
            yield _numbers(f"{name[:-1]} of {_piece(trace, j)}", held, console)
    yield Text()


def _scores_and_weights(trace: Trace, console: Console) -> Iterator[Text]:
    n, d_k = trace.steps.queries.shape[1:]
    word, best = _word(trace), _strongest(trace)[0]
    key = trace.steps.keys[trace.head, best]
    first = " + ".join(
        f"{a:.2f}·{b:.2f}" for a, b in zip(trace.row("queries")[:2], key, strict=False)
    )
    products = f"{first} + … = {trace.row('scores')[best]:.3f}"
    yield from _title("2", "scores", "Q Kᵀ", f"({n}, {n})", console)
    yield from _says(
        console,
        f"The query of “{word}” times each key, number by number, added up: how much focus it puts "
        f"there. With {_piece(trace, best)}: {products}.",
    )
    yield Text()
    yield from _title("3", "scaled_scores", "scores / √d_k", f"({n}, {n})", console)
    yield from _says(
        console, f"Divided by √{d_k} = {np.sqrt(d_k):g}, so that gradients stay stable."
    )
    yield Text()
    yield from _title("4", "weights", "softmax over j", f"({n}, {n})", console)
    scaled = trace.row("scaled_scores")
    total = float(np.exp(scaled - scaled.max()).sum())
    yield from _says(
        console,
        f"exp of each, divided by their sum, e^{scaled.max():.2f} · {total:.3f}: all positive, and "
        "the row adds up to 1.",
    )
    yield Text()
    yield from _table(trace, console)
    yield Text()


def _table(trace: Trace, console: Console) -> Iterator[Text]:
    weights, scores = trace.row("weights"), trace.row("scores")
    scaled = trace.row("scaled_scores")
    names = [_piece(trace, j) for j in range(len(weights))]
    wide = max(5, max(printed_width(name) for name in names))
    room = console.width - _INDENT - wide - 33
    drawn = room >= _SHORTEST_BAR
    columns = (10, 10, 9) if drawn else (9, 9, 7)
    wide = wide if drawn else max(min(wide, console.width - _INDENT - sum(columns)), 5)
    head = fitted("piece", wide) + _in_columns(("score", "scaled", "weight"), columns)
    yield Text(" " * _INDENT).append(head, QUIET)
    strongest = _strongest(trace)
    for j, name in enumerate(names):
        line = Text(" " * _INDENT)
        line.append(fitted(name, wide), STRONG if j in strongest[:1] else "")
        numbers = f"{_rounded(scores[j]):.3f}", f"{_rounded(scaled[j]):.3f}"
        line.append(_in_columns((*numbers, percent(weights[j])), columns))
        if drawn:
            line.append("  ").append(bar(weights[j], room, ascii_alone(console)), ACCENT)
        yield line
    total = _in_columns(("", "", percent(round(float(weights.sum()), 9))), columns)
    yield Text(" " * _INDENT).append(fitted("sum", wide) + total, QUIET)


def _mixing(trace: Trace, console: Console) -> Iterator[Text]:
    n, d_v = trace.steps.values.shape[1:]
    weights, values = trace.row("weights"), trace.steps.values[trace.head]
    yield from _title("5", "weighted_values", "weights[i, j] · V[j]", f"({n}, {n}, {d_v})", console)
    yield from _says(console, "Each value times its weight: keeps what matters, drowns the rest.")
    for j in _strongest(trace):
        label = f"{weights[j]:.3f} · {_piece(trace, j)}"
        yield _numbers(label, weights[j] * values[j], console)
    yield Text()
    yield from _title("6", "head_outputs", "Z = sum over j", f"({n}, {d_v})", console)
    yield from _says(
        console, f"All {n} of them added up: what this head found for “{_word(trace)}”."
    )
    yield _numbers(f"Z of {_piece(trace, trace.query)}", trace.row("head_outputs"), console)
    yield Text()


def _leaving(trace: Trace, console: Console) -> Iterator[Text]:
    heads, n, d_v = trace.steps.head_outputs.shape
    width = trace.steps.output.shape[-1]
    first = trace.head * d_v
    yield from _title(
        "7", "concatenated", f"[Z_0 … Z_{heads - 1}]", f"({n}, {heads * d_v})", console
    )
    yield from _says(
        console,
        f"The {heads} heads side by side; this one's numbers are {first} to {first + d_v - 1}.",
    )
    yield _numbers(
        f"{_piece(trace, trace.query)} from {first}", trace.row("concatenated")[first:], console
    )
    yield Text()
    yield from _title("8", "output", "concatenated · W_O", f"({n}, {width})", console)
    yield from _says(
        console,
        f"A last trained matrix mixes the heads{_biased(trace)}; the layer adds this to what came "
        "in.",
    )
    yield _numbers(_piece(trace, trace.query), trace.row("output"), console)
    yield Text()


def _closing(trace: Trace, console: Console) -> Iterator[Text]:
    largest = float(np.abs(trace.steps.output).max())
    line = Text("The model itself takes one fused pass, in float32, that never stores the table. ")
    line.append("Between its output and these steps, done in float64, the largest difference is ")
    line.append(f"{trace.difference:.1e}", STRONG).append(
        f" (the largest number is {largest:.2f})."
    )
    yield from paragraph(console, line)
    yield Text()


def _title(number: str, name: str, formula: str, shape: str, console: Console) -> Iterator[Text]:
    """Number, name, formula and, on the right, shape; the formula below where there is no room."""
    start = Text("  ").append(number, ACCENT).append("  ").append(name, STRONG)
    line = start.copy().append(f"   {formula}")
    below = printed_width(line.plain) + len(shape) + 4 > console.width
    line = start if below else line
    room = console.width - 2 - printed_width(line.plain) - len(shape)
    yield line.append(" " * max(room, 2)).append(shape, QUIET)
    if below:
        yield Text(" " * _INDENT).append(formula)


def _in_columns(texts: Sequence[str], columns: Sequence[int]) -> str:
    return "".join(f"{text:>{width}}" for text, width in zip(texts, columns, strict=True))


def _says(console: Console, text: str) -> Iterator[Text]:
    yield from paragraph(console, text, QUIET, indent=_INDENT)


def _numbers(label: str, numbers: Sequence[float] | Any, console: Console) -> Text:
    """A label and as many numbers as the line has room for."""
    line = Text(" " * _INDENT).append(fitted(label, _LABEL + 2))
    fit = max((console.width - _INDENT - _LABEL - 8) // 8, 1)
    line.append("".join(f"{_rounded(x):8.3f}" for x in numbers[:fit]))
    return line.append(" …", QUIET) if len(numbers) > fit else line


def _biased(trace: Trace) -> str:
    return "; a trained bias is added" if trace.biased else ""


def _rounded(number: Any) -> float:
    """A number to three places; none is "-0.000"."""
    return round(float(number), 3) + 0.0


def _strongest(trace: Trace) -> list[int]:
    order = np.argsort(-trace.row("weights"), kind="stable")
    return [int(j) for j in order[:_TOLD]]


def _word(trace: Trace) -> str:
    return fitted(trace.record.words[trace.word], _LONGEST_NAME).strip()


def _piece(trace: Trace, index: int) -> str:
    """What stands in the sentence at a piece, "didn-" where its word goes on; or its own name."""
    piece = trace.record.pieces[index]
    if piece.span is None:
        return fitted(piece.name, _LONGEST_NAME).strip()
    start, end = piece.span
    text = trace.record.sentence[start:end].strip() or "space"
    words = trace.record.encoder.queries.spans
    goes_on = any(first < end < last for first, last in words)
    return fitted(text + "-" * goes_on, _LONGEST_NAME).strip()
