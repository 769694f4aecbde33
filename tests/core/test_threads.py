"""The number of threads changes no bit: every kind of call of the table of speed, in small.

``tests/native/test_isas.py`` runs this file again for each instruction set.
"""

from itertools import accumulate

import numpy as np
import pytest

import clearhead as ch
from support.cases import KINDS, draw, same_bits
from support.observations import everything

kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)

THREADS = (1, 2, 3, 7)
SIZES = (30, 1, 77, 64, 2, 130, 16)  # of packed sequences: 320 positions


def bias(rng, heads, n, m):
    return rng.standard_normal((heads, n, m)).astype(np.float32)


def blocks(rng, heads, n, m):
    return ch.allowed(np.kron(rng.random((10, 10)) < 0.4, np.ones((n // 10, m // 10))) > 0)


def segments(rng, heads, n, m):
    return ch.segments(np.repeat(np.arange(len(SIZES)), SIZES))


# (batch, heads, key heads, queries, keys, width), and what stands beside: functions of
# (rng, heads, queries, keys). All are large enough that more than one thread is woken.
CELLS = {
    "none": ((2, 4, 4, 130, 130, 64), {}),
    "causal": ((1, 4, 4, 300, 300, 64), {"mask": lambda *_: ch.causal()}),
    "short": ((16, 4, 4, 32, 32, 64), {"mask": lambda *_: ch.causal()}),
    "off the tile": ((1, 4, 4, 200, 200, 80), {"mask": lambda *_: ch.causal()}),
    "wide": ((1, 4, 2, 150, 150, 128), {}),
    "window": ((1, 2, 2, 600, 600, 64), {"mask": lambda *_: ch.window(70, 0)}),
    "lengths": ((4, 3, 3, 140, 140, 64), {"mask": lambda *_: ch.lengths(keys=[140, 3, 0, 90])}),
    "segments": ((1, 4, 4, 320, 320, 64), {"mask": segments}),
    "boolean": ((1, 4, 4, 200, 210, 64), {"mask": blocks}),
    "bias": ((1, 4, 4, 200, 200, 64), {"bias": bias}),
    "alibi": ((1, 4, 4, 200, 200, 32), {"bias": lambda *_: ch.alibi([0.5, 0.1, 0.02, 1])}),
    "sinks": ((1, 4, 4, 200, 200, 32), {"sinks": lambda *_: np.arange(4.0) - 2}),
    "softcap": ((1, 4, 4, 200, 200, 32), {"softcap": lambda *_: 5.0}),
    "decoding": ((1, 8, 2, 1, 4500, 64), {}),  # five parts of the keys
    "decoding, few": ((2, 4, 2, 3, 2300, 64), {"mask": lambda *_: ch.causal(align="end")}),
    "decoding, lengths": (
        (3, 8, 2, 1, 2300, 64),
        {"mask": lambda *_: ch.lengths(keys=[2300, 1057, 5])},
    ),
    "decoding, bias": ((1, 8, 2, 1, 2300, 64), {"bias": bias}),
}


def drawn(rng, cell, kind):
    """(q, k, v), options."""
    (batch, heads, kv_heads, n, m, width), options = CELLS[cell]
    sizes = [(heads, n), (kv_heads, m), (kv_heads, m)]
    arrays = [rng.standard_normal((batch, h, count, width)).astype(kind) for h, count in sizes]
    return arrays, {name: make(rng, heads, n, m) for name, make in options.items()}


def with_threads(count, call):
    before = ch.machine().threads
    try:
        ch.set_threads(count)
        return call()
    finally:
        ch.set_threads(before)


def test_the_sequences_fill_their_row():
    assert list(accumulate(SIZES))[-1] == CELLS["segments"][0][3]


@kinds
@pytest.mark.parametrize("cell", CELLS)
def test_the_number_of_threads_changes_no_bit_of_any_cell(rng, cell, kind):
    arrays, options = drawn(rng, cell, kind)
    if "sinks" in options:
        options["sinks"] = options["sinks"].astype(np.float32)
    plain = with_threads(1, lambda: ch.attention(*arrays, **options))
    observe = everything()
    out, seen = with_threads(1, lambda: ch.attention(*arrays, **options, observe=observe))
    assert same_bits(out, plain)
    for threads in THREADS[1:]:
        assert same_bits(plain, with_threads(threads, lambda: ch.attention(*arrays, **options)))
        again = with_threads(threads, lambda: ch.attention(*arrays, **options, observe=observe))
        assert same_bits(again[0], out)
        assert same_bits(again[1], seen)


@kinds
@pytest.mark.parametrize("seed", range(5))
def test_the_number_of_threads_changes_no_bit_of_any_call(seed, kind):
    case = draw(seed + 300, kind, lengths=[200, 333, 700])
    results = [with_threads(n, lambda: case(observe=case.observe)) for n in THREADS]
    for out, seen in results[1:]:
        assert same_bits(out, results[0][0])
        assert same_bits(seen, results[0][1])
