"""The exponential, the logarithm and tanh of the kernels, seen through small calls."""

import numpy as np

import clearhead as ch


def scores_of(x, kind):
    """Queries and keys of width 1 that give query i the scores (0, x[i])."""
    query = np.ones((len(x), 1, 1), kind)
    key = np.zeros((len(x), 2, 1), kind)
    key[:, 1, 0] = x
    return query, key


def test_exp_is_within_2_ulp(rng):
    # A scale of ln 2 makes the scores powers of 2: exp2 of exactly what is in the keys.
    for kind, below in ((np.float32, 120), (np.float64, 1000)):
        x = -np.concatenate([rng.random(4000) * 2, rng.random(4000) * below, [0, 1, below]])
        x = x.astype(kind)
        query, key = scores_of(x, kind)
        _, seen = ch.attention(query, key, key, scale=np.log(2), observe=ch.Observe(weights=True))
        p = seen.weights[:, 0, 1].astype(np.longdouble) / seen.weights[:, 0, 0]
        exact = np.exp2(x.astype(np.longdouble))
        ulp = np.spacing(exact.astype(kind)).astype(np.longdouble)
        assert (np.abs(p - exact) / ulp).max() <= 2.5  # half a ulp is the division by the sum


def test_lse_is_within_2_ulp_of_its_size(rng):
    for kind, tolerance in ((np.float32, 3e-7), (np.float64, 5e-16)):
        x = (rng.standard_normal(5000) * 20).astype(kind)
        query, key = scores_of(x, kind)
        _, seen = ch.attention(query, key, key, scale=1, observe=ch.Observe(lse=True))
        exact = np.logaddexp(0, x.astype(np.float64))
        assert np.abs(seen.lse[:, 0] - exact).max() <= tolerance * max(1, exact.max())


def test_tanh_keeps_its_digits_near_zero_and_far_away(rng):
    for kind, tolerance in ((np.float32, 5e-7), (np.float64, 2e-15)):
        x = np.concatenate([10.0 ** rng.uniform(-6, 3, 4000) * rng.choice([-1, 1], 4000), [0]])
        x = x.astype(kind)
        key = np.zeros((len(x), 1, 1), kind)
        key[:, 0, 0] = x
        _, seen = ch.attention(
            np.ones_like(key), key, key, scale=1, softcap=1, observe=ch.Observe(lse=True)
        )
        exact = np.tanh(x.astype(np.float64))
        assert (np.abs(seen.lse[:, 0] - exact) <= tolerance * np.abs(exact)).all()
