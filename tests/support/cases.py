"""Random calls of attention, and the float64 answer they are held to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, get_args

import ml_dtypes
import numpy as np

import clearhead as ch
from clearhead.core import steps
from clearhead.inputs.conditions import Allowed, Band, Condition, Lengths, Segments
from support.observations import draw_observe

KINDS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
LENGTHS = [0, 1, 2, 3, 7, 16, 31, 33, 64, 65, 66, 67, 100, 129, 200]
WIDTHS = [1, 2, 3, 8, 16, 17, 31, 32, 64, 65, 80, 96]


@dataclass
class Case:
    """One call; ``options`` are the keyword arguments beside ``observe``."""

    query: Any
    key: Any
    value: Any
    options: dict[str, Any]
    observe: ch.Observe

    def arrays(self):
        return self.query, self.key, self.value

    def __call__(self, **more):
        return ch.attention(*self.arrays(), **self.options, **more)

    def with_arrays(self, change):
        query, key, value = (change(x) for x in self.arrays())
        return replace(self, query=query, key=key, value=value)

    def judge(self):
        """(out, Observation) of the plain steps in float64, with all weights."""
        options = {name: wide(x) for name, x in self.options.items()}
        observe = replace(self.observe, weights=True)
        return steps.attention(*map(wide, self.arrays()), **options, observe=observe)


def wide(x):
    return x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype != np.bool_ else x


def draw(seed, kind, lengths=LENGTHS, widths=WIDTHS):
    """A random call: shapes, layouts in memory, masks, every option, observations."""
    rng = np.random.default_rng(seed)
    batch = [(), (1,), (2,), (2, 3), (3,)][rng.integers(5)]
    kv_heads = int(rng.integers(1, 4))
    heads = kv_heads * int(rng.integers(1, 4))
    n, m = (int(rng.choice(lengths)) for _ in range(2))
    d_k, d_v = (int(rng.choice(widths)) for _ in range(2))

    def normal(*shape):
        return any_layout(rng, rng.standard_normal((*batch, *shape)).astype(kind))

    query, key = normal(heads, n, d_k), normal(kv_heads, m, d_k)
    value = normal(kv_heads, m, d_v)
    mask, anchored = draw_mask(rng, batch, heads, n, m)
    options = {"mask": mask, "scale": draw_scale(rng, d_k, m)}
    options["bias"] = draw_bias(rng, batch, heads, n, m, kind, anchored)
    if rng.random() < 0.2:
        options["softcap"] = float(rng.choice([0.5, 5, 50]))
    if rng.random() < 0.2:
        options["sinks"] = rng.standard_normal(heads).astype(np.float32)
    return Case(query, key, value, options, draw_observe(rng, n, m))


def draw_band(rng, batch, heads, n, m):
    left, right = int(rng.integers(0, 50)), [None, 0, 5][rng.integers(3)]
    bands = [ch.causal(align="end"), ch.window(left, right, offset=int(rng.integers(-5, 20)))]
    return bands[rng.integers(2)]


def draw_lengths(rng, batch, heads, n, m):
    queries = rng.integers(0, n + 1, batch) if rng.random() < 0.5 else None
    return ch.lengths(keys=rng.integers(0, m + 1, batch), queries=queries)


def draw_segments(rng, batch, heads, n, m):
    return ch.segments(rng.integers(-1, 3, (*batch, m)), rng.integers(-1, 3, (*batch, n)))


def draw_allowed(rng, batch, heads, n, m):
    shapes = [(n, m), (1, m), (n, 1), (*batch, heads, n, m), (*batch, 1, 1, m)]
    shape = shapes[rng.integers(5)]
    return ch.allowed(any_layout(rng, rng.random(shape) < rng.choice([0.1, 0.5, 0.95])))


DRAWN = {Band: draw_band, Lengths: draw_lengths, Segments: draw_segments, Allowed: draw_allowed}
"""A random mask of each kind of condition; a kind without a line here fails every random call."""


def draw_mask(rng, batch, heads, n, m):
    """(a mask of some of the kinds or None, whether it has an anchor)."""
    mask = None
    for draw_part in [DRAWN[kind] for kind in get_args(Condition)]:
        if rng.random() < 0.3:
            part = draw_part(rng, batch, heads, n, m)
            mask = part if mask is None else mask & part
    return mask, mask is not None and mask.anchor is not None


def draw_scale(rng, d_k, m):
    usual = 1 / np.sqrt(d_k)
    return [None, None, 0, -usual, 2 * usual if m <= 300 else usual][rng.integers(5)]


def draw_bias(rng, batch, heads, n, m, kind, anchored):
    chosen = rng.random()
    if chosen < 0.25:
        shapes = [(n, m), (1, m), (heads, n, m), (*batch, heads, n, m), (heads, 1, 1)]
        bias = rng.standard_normal(shapes[rng.integers(5)])
        if rng.random() < 0.5:
            bias[rng.random(bias.shape) < 0.2] = -np.inf
        return any_layout(rng, bias.astype(kind if rng.random() < 0.7 else np.float32))
    if chosen < 0.4:
        return ch.alibi(2.0 ** -np.arange(1, heads + 1), offset=None if anchored else 3)
    return None


def any_layout(rng, x):
    """The same numbers laid out otherwise in memory, with NaN (True) in every gap."""
    poison = True if x.dtype == np.bool_ else np.nan
    how = rng.integers(6) if x.ndim >= 2 else 0
    if how == 1:
        axes = rng.permutation(x.ndim)
        return np.ascontiguousarray(x.transpose(axes)).transpose(np.argsort(axes))
    if how == 2:
        room = np.full((*x.shape[:-1], 2 * x.shape[-1]), poison, x.dtype)
        room[..., ::2] = x
        return room[..., ::2]
    if how == 3:
        return np.ascontiguousarray(x[..., ::-1, ::-1])[..., ::-1, ::-1]
    if how == 4:
        room = np.full((*x.shape[:-2], x.shape[-2] + 3, x.shape[-1] + 5), poison, x.dtype)
        inner = room[..., 1 : 1 + x.shape[-2], 2 : 2 + x.shape[-1]]
        inner[...] = x
        return inner
    return np.asfortranarray(x) if how == 5 else x


def same_bits(a, b):
    """Whether two arrays, or two Observations, are the same to the last bit."""
    if isinstance(a, ch.Observation):
        names = vars(a)
        return all(same_bits(getattr(a, name), getattr(b, name)) for name in names)
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def assert_same(found, others):
    """Two results of ``observations.parts``, bit for bit."""
    assert found.keys() == others.keys()
    for name, part in found.items():
        assert same_bits(part, others[name]), name
