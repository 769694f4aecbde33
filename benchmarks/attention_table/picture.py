"""The picture of the table: for each cell, how many times as long everybody else takes.

First the data (``rows``, ``marks``), then the ink (``draw``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .cells import CELLS, Cell
from .ratios import Record, ratio
from .records import Records

__all__ = ["draw", "marks", "rows"]

INK, SOFT, LINE = "#22313f", "#7b8794", "#e4e8ec"
ACCENT = "#0f766e"
STYLES: dict[str, tuple[str, str, str]] = {
    "torch": ("torch, its default call", ACCENT, "o"),
    "viewed": ("torch, on a view", "#5eaaa2", "o"),
    "flex": ("FlexAttention", "#c2872b", "D"),
    "openvino": ("OpenVINO", "#4f6fb0", "s"),
    "onnx": ("ONNX Runtime", "#8a63a8", "^"),
    "hf": ("Hugging Face sdpa", "#9fb8ad", "v"),
    "jax": ("JAX", "#bf6572", "P"),
    "eager": ("torch eager", "#b9c0c7", "x"),
    "hf-eager": ("Hugging Face eager", "#b9c0c7", "+"),
    "numpy": ("NumPy", "#b9c0c7", "1"),
}
"""By name: the label, the colour and the mark. What users meet most is drawn strongest."""

LEAST, MOST = 0.5, 40.0  # what the axis shows; what is slower stands at its end


def rows(records: Records) -> list[Cell]:
    """The cells that were measured in some kind, in the order of the table."""
    measured = {record["cell"] for record in records.cells}
    return [cell for cell in CELLS if cell.name in measured]


def marks(record: Record) -> dict[str, float]:
    """Where each peer stands in the row of the cell: its ratio, within what the axis shows."""
    found = {name: ratio(record, name) for name in STYLES}
    return {name: min(max(r, LEAST), MOST) for name, r in found.items() if r is not None}


def draw(records: Records, path: Path, kinds: list[str] | None = None) -> None:
    """A panel for each kind, a row for each cell; SVG or PNG by the ending of the path."""
    matplotlib = _matplotlib()
    cells, kinds = rows(records), kinds or records.kinds
    settings = {
        "font.family": "sans-serif",
        "font.size": 9,
        "svg.fonttype": "none",
        "svg.hashsalt": "clearhead",
        "text.color": INK,
    }
    with matplotlib.rc_context(settings):
        height = 0.25 * len(cells) + 1.85
        width = 3.1 + 3.4 * len(kinds)
        figure = matplotlib.figure.Figure(figsize=(width, height), facecolor="white")
        room = {"left": 2.9 / width, "right": 1 - 0.2 / width}
        room |= {"top": 1 - 1.3 / height, "bottom": 0.45 / height, "wspace": 0.12}
        panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False, gridspec_kw=room)[0]
        for panel, kind in zip(panels, kinds, strict=True):
            _panel(panel, cells, {r["cell"]: r for r in records.of(kind)}, kind)
        panels[0].set_yticks(range(len(cells)), [cell.title for cell in cells])
        _legend(figure, records, height)
        figure.savefig(path, dpi=200, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panel(panel: Any, cells: list[Cell], found: dict[str, Record], kind: str) -> None:
    """One kind: a line of marks for each cell, the ratio to torch written at its right."""
    panel.set_xscale("log")
    panel.set_xlim(LEAST * 0.9, MOST * 2.6)
    panel.set_ylim(len(cells) - 0.4, -0.6)
    ticks = [0.5, 1, 2, 4, 8, 16, 32]
    panel.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    panel.xaxis.set_minor_locator(_matplotlib().ticker.NullLocator())
    panel.tick_params(length=0, colors=SOFT)
    panel.tick_params(axis="y", labelcolor=INK)
    panel.spines[:].set_visible(False)
    panel.grid(axis="x", color=LINE, linewidth=0.7)
    panel.set_axisbelow(True)
    panel.axvline(1, color=INK, linewidth=1)
    panel.set_title(kind, loc="left", fontsize=10, color=INK, fontweight="bold")
    for place, cell in enumerate(cells):
        if cell.name in found:
            _row(panel, place, found[cell.name])


def _row(panel: Any, place: int, record: Record) -> None:
    """The marks of one cell; torch last, so that it lies on top."""
    where = marks(record)
    for name in reversed(STYLES):
        if name not in where:
            continue
        _, colour, mark = STYLES[name]
        strong = name == "torch"
        if strong:
            panel.plot([1, where[name]], [place, place], color=ACCENT, linewidth=1.6, zorder=2)
        panel.plot(
            where[name], place, mark, color=colour, markersize=6 if strong else 4,
            zorder=4 if strong else 3, clip_on=False,
        )  # fmt: skip
    value = ratio(record, "torch")
    if value is not None:
        text = f"{value:.1f}×" if value < 10 else f"{value:.0f}×"
        panel.text(MOST * 2.5, place, text, ha="right", va="center", color=ACCENT, fontsize=8.5)


def _legend(figure: Any, records: Records, height: float) -> None:
    """What the picture says, over the panels, and who is who."""
    there = {name for record in records.cells for name in marks(record)}
    line = _matplotlib().lines.Line2D
    handles = [
        line([], [], color=colour, marker=mark, linestyle="", markersize=5, label=label)
        for name, (label, colour, mark) in STYLES.items()
        if name in there
    ]
    machine = records.machine or {}
    head = "How many times as long others take as Clearhead (line at 1; the number is torch's)"
    what = f"{machine.get('processor', '')}, {machine.get('threads', '')} threads"
    figure.text(0.012, 1 - 0.2 / height, head, fontsize=10.5, va="center")
    figure.text(0.012, 1 - 0.42 / height, what, fontsize=8.5, color=SOFT, va="center")
    figure.legend(
        handles=handles, loc="center left", bbox_to_anchor=(0.004, 1 - 0.72 / height),
        ncols=5, frameon=False, fontsize=8, handletextpad=0.1, columnspacing=0.9,
    )  # fmt: skip


def _matplotlib() -> Any:
    """The library, or the end of the program with how to get it."""
    try:
        import matplotlib
        import matplotlib.figure
        import matplotlib.lines
        import matplotlib.ticker
    except ImportError:
        raise SystemExit("--picture needs matplotlib: pip install matplotlib") from None
    return matplotlib
