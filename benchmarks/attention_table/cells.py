"""The cells of the table: what is computed, how many operations that takes, what it is held to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .goals import Goal, goals_of

__all__ = ["CELLS", "KINDS", "Cell", "chosen"]

KINDS = {"float32": 4, "bfloat16": 2, "float16": 2}
"""The kinds, and how many bytes a number of each takes."""


@dataclass(frozen=True)
class Cell:
    """One call: (batch, heads, queries, width), the keys it sees, and the row that sets its goals.

    ``mask`` is one of "none", "causal", "padded" (the first ``lengths[b]`` keys of sample b),
    "packed" (sequences of ``lengths`` tokens one behind the other) and "window" (the query and the
    ``before`` keys before it). ``kv_heads`` 0: as many as heads; ``keys`` 0: as many as queries.
    """

    row: str
    batch: int
    heads: int
    queries: int
    width: int
    mask: str = "none"
    keys: int = 0
    kv_heads: int = 0
    lengths: tuple[int, ...] = ()
    before: int = 0
    bias: bool = False
    looked: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", self.keys or self.queries)
        object.__setattr__(self, "kv_heads", self.kv_heads or self.heads)

    @property
    def decoding(self) -> bool:
        """Whether reading the keys and values, not computing, is what limits it."""
        return self.queries == 1 and self.keys > 1

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(batch, heads, queries, width) of the queries and of the output."""
        return self.batch, self.heads, self.queries, self.width

    @property
    def name(self) -> str:
        """As ``--cells`` and the records have it: "1x8x512x64-causal"."""
        what = {"none": ""}.get(self.mask, f"-{self.mask}") + ("-bias" if self.bias else "")
        size = f"{self.batch}x{self.heads}x{self.queries}x{self.width}"
        return f"decode-{self.keys}" if self.decoding else size + what

    @property
    def title(self) -> str:
        """As people read it: "(1, 8, 512, 64), causal"."""
        if self.decoding:
            return f"decoding, {self.keys:,} keys, {self.heads} heads over {self.kv_heads}"
        what = {
            "none": "",
            "padded": ", half padded",
            "packed": f", packed {min(self.lengths or (0,))} to {max(self.lengths or (0,))} tokens",
            "window": f", window of {self.before + 1}",
        }.get(self.mask, f", {self.mask}")
        return f"{self.shape}{what}{', bias' if self.bias else ''}"

    @property
    def pairs(self) -> int:
        """Pairs of a query and a key that it may look at, over batch and heads."""
        n, m = self.queries, self.keys
        if self.mask == "causal":
            one = self.batch * n * (n + 1) // 2
        elif self.mask == "padded":
            one = n * sum(self.lengths)
        elif self.mask == "packed":
            one = sum(length * length for length in self.lengths)
        elif self.mask == "window":
            one = self.batch * sum(min(i, self.before) + 1 for i in range(n))
        else:
            one = self.batch * n * m
        return self.heads * one

    @property
    def operations(self) -> int:
        """Useful operations of both products: a multiplication and an addition count as two."""
        return 4 * self.width * self.pairs

    def read_bytes(self, kind: str) -> int:
        """Bytes of the keys and values."""
        return 2 * self.batch * self.kv_heads * self.keys * self.width * KINDS[kind]

    def goals(self, kind: str) -> tuple[Goal, ...]:
        """What the cell is held to in that kind."""
        limited = self.looked and self.keys >= 2048 and self.width == 64
        return goals_of(self.row, kind, self.keys, self.looked, limited)


def _plain() -> Iterable[Cell]:
    """The shapes that come without a mask and causal, each also timed looking."""
    for row, causal_row, *sizes in (
        ("short", "short, causal", 8, 8, 128, 64),
        ("short", "N = 512, causal", 1, 8, 512, 64),
        ("short", "N = 512, causal", 4, 12, 512, 64),
        ("tiny", "tiny, causal", 32, 8, 32, 64),
        ("long", "long, causal", 1, 8, 2048, 64),
        ("long", "long, causal", 1, 8, 8192, 64),
        ("wide", "wide, causal", 1, 16, 2048, 128),
        ("wide", "wide, causal", 1, 32, 2048, 128),
        ("off the tile", "off the tile", 2, 8, 1024, 80),
    ):
        yield Cell(row, *sizes, looked=True)
        yield Cell(causal_row, *sizes, mask="causal", looked=True)


def _sequences() -> tuple[int, ...]:
    """32 lengths from 10 to 512 in an order without order, the same at every call."""
    lengths = np.linspace(10, 512, 32).round().astype(int)
    return tuple(int(n) for n in np.random.default_rng(0).permutation(lengths))


CELLS = (
    *_plain(),
    Cell("padded", 8, 8, 512, 64, "padded", lengths=(416, 96, 480, 160, 352, 32, 288, 224)),
    Cell("packed", 32, 8, 512, 64, "packed", lengths=_sequences()),
    Cell("window", 1, 4, 8192, 64, "window", before=255),
    Cell("bias", 1, 8, 1024, 64, bias=True),
    Cell("decoding", 1, 32, 1, 128, keys=4096, kv_heads=8),
    Cell("decoding", 1, 32, 1, 128, keys=32768, kv_heads=8),
    Cell("one call", 1, 8, 16, 64),
)


def chosen(names: list[str] | None) -> list[Cell]:
    """The cells whose name contains one of the parts, or all of them."""
    found = [c for c in CELLS if not names or any(part in c.name for part in names)]
    if not found:
        raise SystemExit(f"no cell is named {' or '.join(names or [])}; see --list")
    return found
