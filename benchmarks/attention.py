"""How fast is the fused pass beside torch's, and what does looking cost?

Each cell is timed interleaved in one process, ours and the peer in turn, both with the same number
of threads and both allocating their output; the ratio is that of the medians. Inputs are fresh and
random, and the result is checked against float64 before anything is timed.

    python benchmarks/attention.py            every cell, about two minutes
    python benchmarks/attention.py --quick    fewer rounds
    python benchmarks/attention.py --json     one object, for scripts
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import clearhead as ch

SHAPES = [
    (8, 8, 128, 64),
    (32, 8, 32, 64),
    (1, 8, 512, 64),
    (4, 12, 512, 64),
    (1, 8, 2048, 64),
    (1, 8, 8192, 64),
    (1, 16, 2048, 128),
]
LOOKING = ch.Observe(top=8, entropy=True, lse=True)


def main() -> None:
    """Print the table."""
    options = arguments()
    torch.set_num_threads(options.threads)
    ch.set_threads(options.threads)
    cells = []
    for shape in SHAPES:
        if options.only and shape[2] not in options.only:
            continue
        for causal in (False, True):
            cells.append(cell(shape, causal, options))
            if not options.json:
                print_cell(cells[-1])
    if options.json:
        json.dump({"machine": about(options), "cells": cells}, sys.stdout, indent=1)
        print()


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3.0, help="of timing for each cell")
    parser.add_argument("--quick", action="store_true", help="0.6 seconds for each cell")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", type=int, nargs="*", help="these lengths N")
    options = parser.parse_args()
    if options.quick:
        options.seconds = 0.6
    return options


def cell(shape: tuple[int, int, int, int], causal: bool, options: Any) -> dict[str, Any]:
    """Check and time one shape, with or without the causal mask."""
    generator = torch.Generator().manual_seed(time.time_ns() % 2**31)
    q, k, v = (torch.randn(shape, generator=generator) for _ in range(3))
    mask = ch.causal() if causal else None

    def ours() -> Any:
        return ch.attention(q, k, v, mask=mask)

    def looking() -> Any:
        return ch.attention(q, k, v, mask=mask, observe=LOOKING)

    def peer() -> Any:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    error = error_of(ours(), q, k, v, causal)
    if error > 5e-6:
        sys.exit(f"{shape}: the result is off by {error:.1e} of the largest output")
    times = interleaved([ours, looking, peer], options.seconds)
    mine, seeing, theirs = (statistics.median(t) for t in times)
    b, h, n, d = shape
    operations = 4 * b * h * n * n * d / (2 if causal else 1)
    return {
        "shape": shape,
        "causal": causal,
        "rounds": len(times[0]),
        "error": error,
        "ours_ms": mine * 1e3,
        "torch_ms": theirs * 1e3,
        "ratio": theirs / mine,
        "looking_cost": seeing / mine,
        "gflops": operations / mine / 1e9,
    }


def interleaved(calls: list[Callable[[], Any]], seconds: float) -> list[list[float]]:
    """Times of each call, taken in turn until the time is up; five rounds at least."""
    for call in calls * 2:
        call()
    times: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for call, taken in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return times


def error_of(out: Any, q: Any, k: Any, v: Any, causal: bool) -> float:
    """The largest difference to float64 over some rows of the last head, of the largest output."""
    n = q.shape[-2]
    rows = np.unique(np.linspace(0, n - 1, min(n, 200)).astype(int))
    wide = [x[-1, -1].double().numpy() for x in (q, k, v)]
    scores = wide[0][rows] @ wide[1].T / np.sqrt(q.shape[-1])
    if causal:
        scores[np.arange(n) > rows[:, None]] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    exact = weights / weights.sum(-1, keepdims=True) @ wide[2]
    return float(np.abs(out[-1, -1].double().numpy()[rows] - exact).max() / np.abs(exact).max())


def about(options: Any) -> dict[str, Any]:
    """What ran."""
    return {"isa": ch.machine().isa, "threads": options.threads, "torch": torch.__version__}


def print_cell(found: dict[str, Any]) -> None:
    """One line of the table."""
    kind = "causal" if found["causal"] else "none"
    print(
        f"{found['shape']!s:20} {kind:7} ours {found['ours_ms']:8.3f} ms"
        f" ({found['gflops']:4.0f} GF)  torch {found['torch_ms']:8.3f} ms"
        f"  ratio {found['ratio']:5.2f}  looking {found['looking_cost']:5.2f} x"
        f"  error {found['error']:.0e}  n={found['rounds']}",
        flush=True,
    )


if __name__ == "__main__":
    main()
