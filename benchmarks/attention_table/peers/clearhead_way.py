"""Ours: the call that the table is about, plain and looking."""

from __future__ import annotations

from typing import Any

import clearhead as ch

from ..inputs import Inputs
from .peer import Output, Way, as_float32

__all__ = ["looking", "plain"]

SEEN = ch.Observe(top=8, entropy=True, lse=True)


def plain(inputs: Inputs, threads: int) -> dict[str, Way]:
    """``clearhead.attention`` on torch tensors, as they are."""
    return _ways(inputs, {})


def looking(inputs: Inputs, threads: int) -> dict[str, Way]:
    """The same with the eight strongest keys, entropy and log-sum-exp of every query."""
    return _ways(inputs, {"observe": SEEN}) if inputs.cell.looked else {}


def _ways(inputs: Inputs, options: dict[str, Any]) -> dict[str, Way]:
    cell = inputs.cell
    if cell.mask == "packed":
        q, k, v = inputs.packed
        mask = ch.segments(inputs.segments)
    else:
        q, k, v = inputs.q, inputs.k, inputs.v
        mask = {
            "none": lambda: None,
            "causal": ch.causal,
            "padded": lambda: ch.lengths(keys=list(cell.lengths)),
            "window": lambda: ch.window(cell.before, 0),
        }[cell.mask]()

    def read(found: Any) -> Output:
        out = as_float32(found[0] if "observe" in options else found)
        return inputs.with_padding(out) if cell.mask == "packed" else out

    options.update(mask=mask, bias=inputs.bias)
    return {"attention": Way(lambda: ch.attention(q, k, v, **options), read)}
