"""All that can be observed: how to ask for it, its axes, and how near to float64 it must come.

Every test that looks at an ``Observation`` as a whole goes by these tables. A field that has no
line here fails ``tests/core/test_observation.py``, and those tests with it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

import clearhead as ch

ASKED = {
    "top": 4,
    "entropy": True,
    "lse": True,
    "received": True,
    "map": 8,
    "rows": (0, -1),
    "weights": True,
}
"""Each field of ``Observe``, asked for."""

DRAWN = {
    "top": lambda rng, n, m: int(rng.choice([0, 1, 3, 8, 9, 16, 20, m + 2])),
    "entropy": lambda rng, n, m: True,
    "lse": lambda rng, n, m: True,
    "received": lambda rng, n, m: [False, True, 3, 1][rng.integers(4)],
    "map": lambda rng, n, m: [None, 1, 3, 7, 64, 1000][rng.integers(6)],
    "rows": lambda rng, n, m: (
        None if rng.random() < 0.5 or not n else rng.integers(-n, n, rng.integers(0, 5)).tolist()
    ),
    "weights": lambda rng, n, m: True,
}
"""Each field of ``Observe`` at random, beside n queries and m keys."""


@dataclass(frozen=True)
class Held:
    """What is promised of one field of an ``Observation``.

    axes       behind the heads: N queries, M keys, k strongest, R chosen queries, I × J blocks
    tolerance  how near to float64, by kind; None: its own rule, in ``assert_near``
    """

    axes: str
    tolerance: dict[str, float] | None


_SAME = {"float32": 0, "float64": 0, "float16": 0, "bfloat16": 0}
_OF_A_QUERY = {"float32": 2e-5, "float64": 1e-11, "float16": 2e-3, "bfloat16": 2e-3}
_OF_MANY = {"float32": 1e-4, "float64": 1e-11, "float16": 2e-3, "bfloat16": 2e-3}

HELD = {
    "visible": Held("N", _SAME),
    "top_keys": Held("Nk", None),
    "top_weights": Held("Nk", _OF_A_QUERY),
    "entropy": Held("N", _OF_A_QUERY),
    "lse": Held("N", _OF_A_QUERY),
    "received": Held("M", _OF_MANY),
    "map": Held("IJ", _OF_MANY),
    "rows": Held("RM", _OF_A_QUERY),
    "weights": Held("NM", _OF_A_QUERY),
}


def everything(**changes):
    """``Observe`` of all there is; ``changes`` ask otherwise."""
    return ch.Observe(**{f.name: ASKED[f.name] for f in fields(ch.Observe)} | changes)


def draw_observe(rng, n, m):
    """A random ``Observe`` beside n queries and m keys."""
    return ch.Observe(**{f.name: DRAWN[f.name](rng, n, m) for f in fields(ch.Observe)})


def held_fields(seen):
    """(name, array, what is promised of it) of all that was asked for."""
    for field in fields(seen):
        array = getattr(seen, field.name)
        if array is not None:
            yield field.name, array, HELD[field.name]


def parts(seen, **cuts):
    """The fields along the axes named, cut: parts(seen, N=slice(3)) has the first 3 queries."""
    found = {}
    for name, array, held in held_fields(seen):
        if set(held.axes) & set(cuts):
            at = (..., *(cuts.get(axis, slice(None)) for axis in held.axes))
            found[name] = np.ascontiguousarray(array[at])
    return found


def assert_near(seen, right, kind):
    """All of ``seen`` against the judge, which has all weights; ``kind`` is that of the call."""
    for name, found, held in held_fields(seen):
        if held.tolerance is None:
            assert_strongest(seen, right, HELD["top_weights"].tolerance[kind])
            continue
        wanted, tolerance = getattr(right, name), held.tolerance[kind]
        if tolerance:
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(found, wanted, err_msg=name)


def assert_strongest(seen, right, tolerance):
    """Keys of nearly equal weight may change places; their weights are those of their keys."""
    there = seen.top_keys >= 0
    np.testing.assert_array_equal(there, right.top_keys >= 0)
    keys = np.where(there, seen.top_keys, 0)
    if not right.weights.shape[-1]:
        return
    for weights, atol in ((right.weights, tolerance), (seen.weights, 0)):  # its own, to the bit
        chosen = np.where(there, np.take_along_axis(weights, keys, -1), 0)
        np.testing.assert_allclose(seen.top_weights, chosen, rtol=0, atol=atol)
    distinct = np.sort(np.where(there, keys, -1 - np.arange(keys.shape[-1])), -1)
    assert (np.diff(distinct, axis=-1) > 0).all()
