"""At short lengths, where the call itself costs most: the fused pass beside the plain formula.

softmax(q kᵀ / sqrt(d)) v in NumPy and in torch, and torch's fused pass, interleaved, one sample.

    python benchmarks/short.py [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys

import numpy as np
import torch

import clearhead as ch
from attention_table.timing import Timed, interleaved

LENGTHS = [1, 2, 4, 8, 16, 32, 64]
HEADS, WIDTH = 8, 64


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.3, help="of timing for each length")
    options = parser.parse_args()
    found = [row(length, options.seconds) for length in LENGTHS]
    if options.json:
        json.dump(found, sys.stdout, indent=1)
        print()
        return
    for cell in found:
        print(
            f"N = M = {cell['length']:3}  ours {cell['numpy_us']:6.1f} us in NumPy,"
            f" {cell['torch_us']:6.1f} us in torch;  ratios: NumPy formula"
            f" {cell['over_numpy_formula']:5.2f}, torch formula {cell['over_torch_formula']:5.2f},"
            f" torch fused {cell['over_torch_fused']:5.2f}"
        )


def row(length: int, seconds: float) -> dict[str, float]:
    """Medians in microseconds, and how many times longer each peer takes."""
    rng = np.random.default_rng()
    arrays = rng.standard_normal((3, 1, HEADS, length, WIDTH)).astype(np.float32)
    tensors = [torch.from_numpy(x) for x in arrays]
    q, k, v = tensors
    sdpa = torch.nn.functional.scaled_dot_product_attention
    np.testing.assert_allclose(ch.attention(*arrays), formula(*arrays), atol=1e-5)
    calls = [
        lambda: ch.attention(*arrays),
        lambda: ch.attention(*tensors),
        lambda: formula(*arrays),
        lambda: torch.softmax(q @ k.transpose(-1, -2) * WIDTH**-0.5, -1) @ v,
        lambda: sdpa(q, k, v),
    ]
    timed = [Timed(call, 0.0, leading=True) for call in calls]
    interleaved(timed, seconds, rounds=5, order=random.Random(length))
    mine, mine_torch, plain, plain_torch, fused = (
        statistics.median(one.times) * 1e6 for one in timed
    )
    return {
        "length": length,
        "numpy_us": mine,
        "torch_us": mine_torch,
        "over_numpy_formula": plain / mine,
        "over_torch_formula": plain_torch / mine_torch,
        "over_torch_fused": fused / mine_torch,
    }


def formula(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Softmax(q kᵀ / sqrt(d)) v."""
    scores = q @ k.swapaxes(-1, -2) * np.float32(WIDTH**-0.5)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


if __name__ == "__main__":
    main()
