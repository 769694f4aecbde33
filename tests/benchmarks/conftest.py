"""Records as a run leaves them, with times that are easy to reckon with."""

from __future__ import annotations

import pytest

from attention_table.cells import CELLS
from attention_table.records import Records

RATES = {
    "fma_float32": 4e11,
    "dot_bfloat16": 8e11,
    "exp_degree_4": 2.5e10,
    "exp_degree_5": 2e10,
    "read": {"33554432": 5e10, "268435456": 2e10, "16777216": 5e10, "134217728": 2e10},
}
TIMES = {"ours": 1.0, "looking": 1.25, "torch": 2.0, "viewed": 1.5, "flex": 8.0, "jax": 0.5}


def entries(scale=1e-3):
    """Times of a cell by peer: the median as in ``TIMES``, the minimum half of it."""
    return {name: {"median": t * scale, "min": t * scale / 2} for name, t in TIMES.items()}


@pytest.fixture
def records():
    """Every cell in float32 and bfloat16; two peers could not do what they should."""
    found = Records()
    found.add({"machine": {"processor": "Fast, 2 processors", "threads": 2, "isa": "avx512"}})
    found.add({"versions": {"torch": "torch 9.9"}, "absent": {"openvino": "pip install openvino"}})
    found.add({"rates": RATES})
    for kind in ("float32", "bfloat16"):
        for cell in CELLS:
            peers = {n: e for n, e in entries().items() if n != "viewed" or cell.decoding}
            peers = {**peers, "hf": {"wrong": "sdpa is off by 1e+00"}}
            found.add({"cell": cell.name, "kind": kind, "day": "2030-01-01", "peers": peers})
    return found
