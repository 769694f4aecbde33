"""``trace``: every computing step of one head in one sentence, beside the model's own pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearhead.core.observation import Observe
from clearhead.core.steps import Steps, multi_head_steps
from clearhead.errors import ArgumentError
from clearhead.layer.multihead import multi_head_attention
from clearhead.record.census import telling_links
from clearhead.record.choice import Choice
from clearhead.record.reading import reader_of
from clearhead.record.record import Record
from clearhead.record.sight import Sight
from clearhead.record.words import Words

__all__ = ["Trace", "trace"]


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """One head at work on one sentence of N pieces, in numbers.

    Attributes:
        record: of the sentence; without a translation.
        layer, head: which head, from 0.
        word: index of the word that looks.
        query: index of the piece that looks, the first one of that word.
        x: (N, width) what enters the attention.
        matrices: of this head: w_q, w_k, w_v (width, d), w_o (d, width).
        biased: whether the four maps have biases.
        steps: all heads of the layer, (heads, N, …), in float64 from the model's own weights.
        output: (N, width) what the model's own fused pass gives.
    """

    record: Record
    layer: int
    head: int
    word: int
    query: int
    x: Any
    matrices: dict[str, Any]
    biased: bool
    steps: Steps
    output: Any

    @property
    def guided(self) -> bool:
        """Whether training pulled this head to marked antecedents."""
        return (self.layer, self.head) in self.record.guided

    @property
    def difference(self) -> float:
        """Largest difference between the plain steps' output and the model's own."""
        return float(np.abs(self.steps.output - self.output).max())

    def row(self, name: str) -> Any:
        """A step's numbers of the piece that looks: "queries" (d_k,), "weights" (N,), …"""
        held = getattr(self.steps, name)
        return held[self.query] if held.ndim == 2 else held[self.head, self.query]

    def to_dict(self) -> dict[str, Any]:
        """The trace as JSON has it: each step by its name, of the piece that looks.

        Keys and values are those of every piece.
        """
        steps: dict[str, Any] = {name: self.row(name).tolist() for name in _ROWS}
        for name in ("keys", "values"):
            steps[name] = getattr(self.steps, name)[self.head].tolist()
        return {
            "sentence": self.record.sentence,
            "word": self.record.words[self.word],
            "word_index": self.word,
            "pieces": [piece.name for piece in self.record.pieces],
            "piece_index": self.query,
            "layer": self.layer,
            "head": self.head,
            "guided": self.guided,
            "steps": steps,
            "difference": self.difference,
        }


_ROWS = ("queries", "scores", "scaled_scores", "weights", "head_outputs", "concatenated", "output")


def trace(
    text: str,
    word: str | int | None = None,
    layer: int | None = None,
    head: int | None = None,
    model: Any = None,
) -> Trace:
    """Follows one word through one head, step by step.

    Args:
        text: a sentence of at most 512 pieces.
        word: which word looks, "it", "it:2" (the second one) or an index; None picks the word
            with the most telling link.
        layer, head: where; None picks the head in which this word's link is most telling.
        model: a translator, a BERT-type encoder, or the folder of either; the default is the
            bundled translator.

    Raises:
        TextError: the sentence is empty, too long, or no valid Unicode.
        ArgumentError: no such word, layer or head.

    Example:
        >>> found = trace("The cat sat on the mat because it was tired.", word="it")
        >>> found.row("weights").sum().round(6)
        np.float64(1.0)
        >>> found.difference < 1e-4
        True
    """
    reader = reader_of(model)
    ids, pieces = reader.checked(text)
    said = Words(text, pieces)
    rows = None if word is None else said.find(word)
    seen = reader.observations(ids, Observe(weights=True))
    record = Record(Sight("encoder", said, said, seen), reader.guided)
    links = telling_links(record, Choice(None if rows is None else rows[:1], layer, head))
    if links:
        best = links[0]
        layer, head, looking = best["layer"], best["head"], best["from_index"]
    else:  # a single word has no other beside it
        layer, head, looking = layer or 0, head or 0, 0 if rows is None else rows[0]
    own = said.of(looking)
    if not own:
        raise ArgumentError(f"word: {said.names[looking]!r} has no piece; choose another word")
    x, weights = reader.attention_of(ids, layer)
    wide = {name: w.astype(np.float64) for name, w in weights.items() if w is not None}
    steps = multi_head_steps(x.astype(np.float64), wide, reader.heads)
    output = multi_head_attention(x, weights, reader.heads)
    return Trace(
        record, layer, head, looking, own[0], x[0], _of_head(weights, head, reader.heads),
        weights.get("b_q") is not None,
        Steps(**{name: value[0] for name, value in vars(steps).items()}), output[0],
    )  # fmt: skip


def _of_head(weights: Any, head: int, heads: int) -> dict[str, Any]:
    found = {}
    for name in ("w_q", "w_k", "w_v", "w_o"):
        across = weights[name].T if name == "w_o" else weights[name]
        d = across.shape[1] // heads
        part = across[:, head * d : (head + 1) * d]
        found[name] = part.T if name == "w_o" else part
    return found
