"""Lists of the strongest keys are exact: every score in its place, ties to the smaller index.

Scores that agree in many digits, or altogether, take another way through the kernel than others.
Keys of one entry make any scores: s[i, j] = q[i] · k[j], with q a power of two and the scale ln 2,
is exact in the kernel.
``tests/native/test_isas.py`` runs this file again for each instruction set.
"""

import numpy as np
import pytest

import clearhead as ch

QUERIES = np.array([1.0, -1.0, 0.5, -2.0, 0.0, 4.0])


def close(rng, n):  # apart by a few of the last digits of float32
    return 1 + rng.integers(0, 300, n) * 2.0**-23


def signed_zeros(rng, n):
    return rng.choice([0.0, -0.0, 1e-3, -1e-3], n)


def enormous(rng, n):  # beside −inf, and with the last digits apart
    return -3e38 * (1 + rng.integers(0, 100, n) * 2.0**-23)


SCORES = {
    "random": lambda rng, n: rng.standard_normal(n),
    "whole numbers": lambda rng, n: rng.integers(-4, 5, n),
    "the same": lambda rng, n: np.ones(n),
    "close": close,
    "zeros": signed_zeros,
    "enormous": enormous,
    "rising": lambda rng, n: np.arange(n) / 8,
    "falling": lambda rng, n: -np.arange(n) / 8,
}


def expected(scores, may, top):
    """Stable by falling score; −inf and NaN last, by index; −1 beyond the visible keys."""
    listed = np.full((len(scores), top), -1)
    for i, row in enumerate(scores):
        visible = np.flatnonzero(may[i])
        rank = np.where(row[visible] > -np.inf, row[visible], -np.inf)
        found = visible[np.argsort(-rank, kind="stable")][:top]
        listed[i, : len(found)] = found
    return listed


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("keys", [5, 66, 197])
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("top", [3, 8, 16])
def test_every_score_is_in_its_place_whatever_it_is_beside(rng, kind, keys, scores, top):
    k = SCORES[scores](rng, keys).astype(np.float32)
    q = rng.choice(QUERIES[:4] if scores != "enormous" else QUERIES[[0, 2]], 90)
    for mask in (None, ch.causal(align="end")):
        for broken in (None, np.nan, -np.inf):
            if broken is not None:
                k[rng.choice(keys, 2, replace=False)] = broken
            with np.errstate(invalid="ignore"):
                s = q[:, None] * k.astype(np.float64)
            if np.isposinf(s).any():
                continue
            may = np.ones(s.shape, bool) if mask is None else np.tri(90, keys, keys - 90, bool)
            _, seen = ch.attention(
                q.reshape(1, -1, 1).astype(kind),
                k.reshape(1, -1, 1).astype(kind),
                np.zeros((1, keys, 2), kind),
                mask=mask,
                scale=np.log(2),
                observe=ch.Observe(top=top),
            )
            assert seen.top_keys[0].tolist() == expected(s, may, top).tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_waits_at_the_end_of_the_keys_is_listed(rng, kind):
    for keys in range(1, 160, 3):  # the last tile brings one score that belongs into a list
        k = rng.standard_normal((1, keys, 1)).astype(kind)
        k[0, -1] = 9
        _, seen = ch.attention(np.ones((1, 20, 1), kind), k, k, observe=ch.Observe(top=8))
        assert (seen.top_keys[0, :, 0] == keys - 1).all()
