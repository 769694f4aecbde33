"""Numbers at the ends of the range, and alibi far from its anchor, still give the right weights.

``tests/native/test_isas.py`` runs this file again for each instruction set.
"""

import ml_dtypes
import numpy as np
import pytest

import clearhead as ch
from clearhead.core import steps
from clearhead.errors import ArgumentError
from support.cases import same_bits

FLOAT32 = np.finfo(np.float32)
NARROW = [np.float32, np.float16, ml_dtypes.bfloat16]


def wide(x):
    return None if x is None else np.asarray(x, np.float64)


def against_float64(q, k, v, **options):
    """The largest differences from the judge in float64, the output's by its largest number."""
    observe = ch.Observe(lse=True, entropy=True, weights=True)
    exactly = {**options, "sinks": wide(options.get("sinks"))}
    out, seen = ch.attention(q, k, v, observe=observe, **options)
    right, judged = steps.attention(wide(q), wide(k), wide(v), observe=observe, **exactly)
    off = {"out": np.abs(out - right).max() / max(np.abs(right).max(), 1e-30)}
    off["lse"] = (np.abs(seen.lse - judged.lse) / np.maximum(np.abs(judged.lse), 1)).max()
    off["weights"] = np.abs(seen.weights - judged.weights).max()
    off["entropy"] = np.abs(seen.entropy - judged.entropy).max()
    return off


def drawn(rng, queries, keys, batch=1):
    shapes = (batch, 2, queries, 16), (batch, 2, keys, 16), (batch, 2, keys, 16)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("slope", [1.0, 0.1, -1.0, -0.01])
@pytest.mark.parametrize(
    ("queries", "keys", "anchor"),
    [
        (8, 64, {"offset": -1000}),
        (8, 64, {"offset": 30000}),
        (70, 90, {"offset": -40}),
        (414, 1000, {"align": "end"}),
        (1200, 64, {"align": "end"}),
    ],
)
def test_alibi_far_from_its_keys_keeps_the_digits_of_the_scores(rng, slope, queries, keys, anchor):
    q, k, v = drawn(rng, queries, keys)
    rule = ch.alibi([slope, slope / 3], **anchor)
    for sinks in (None, np.array([0.5, -700], np.float32)):
        off = against_float64(q, k, v, bias=rule, sinks=sinks)
        assert off["out"] < 5e-6
        assert off["lse"] < 1e-6
        assert off["weights"] < 2e-6
        assert off["entropy"] < 1e-5


def test_a_sink_beside_far_alibi_is_compared_at_its_own_height(zeros, column):
    options = {"bias": ch.alibi([0.25], offset=-4000), "observe": ch.Observe(lse=True)}
    for sink, share in ((-1000.0, 0.5), (-1010.0, 1.0), (-990.0, 0.0)):
        out, seen = ch.attention(
            zeros(1, kind=np.float32),
            zeros(1, kind=np.float32),
            column(1, kind=np.float32),
            sinks=np.array([sink], np.float32),
            **options,
        )
        np.testing.assert_allclose(out.item(), share, atol=1e-4)
        np.testing.assert_allclose(seen.lse.item(), np.logaddexp(sink, -1000), atol=1e-4)


@pytest.mark.parametrize("slope", [0.7, -0.7])
@pytest.mark.parametrize("offset", [-500, 20, 500])
def test_padding_does_not_move_what_alibi_takes_off(rng, slope, offset):
    q, k, v = drawn(rng, 9, 130, batch=2)
    rule = ch.alibi([slope, 0.3], offset=offset)
    observe = ch.Observe(top=4, lse=True, entropy=True)
    padded, seen = ch.attention(
        q, k, v, bias=rule, mask=ch.lengths(keys=[71, 130]), observe=observe
    )
    alone, one = ch.attention(q[:1], k[:1, :, :71], v[:1, :, :71], bias=rule, observe=observe)
    assert same_bits(padded[:1], alone)
    for name in ("top_keys", "top_weights", "lse", "entropy"):
        assert same_bits(getattr(seen, name)[:1], getattr(one, name)), name


@pytest.mark.parametrize("kind", NARROW, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("cap", [1e300, 1e39, 3e38, 1e38, 1e30, 1e26, 1e-40, 1e-300])
def test_a_cap_beyond_the_kind_is_no_cap_and_one_below_it_levels_all(rng, kind, cap):
    q, k, v = (x.astype(kind) for x in drawn(rng, 5, 40))
    q[0, 0, 1] = 0
    off = ch.attention(q, k, v, softcap=cap)
    plain = steps.attention(wide(q), wide(k), wide(v), softcap=cap)
    allowed = 5e-6 if kind is np.float32 else 2.0**-8
    np.testing.assert_allclose(off.astype(np.float64), plain, atol=allowed)


@pytest.mark.parametrize("kind", NARROW, ids=lambda kind: kind.__name__)
def test_a_scale_whose_scores_leave_the_kind_is_refused_with_the_largest(zeros, column, kind):
    calls = zeros(1, kind=kind), zeros(2, kind=kind), column(1, 3, kind=kind)
    for scale in (1e31, -1e38, 1e300):
        for attention in (ch.attention, steps.attention):
            with pytest.raises(ArgumentError, match=r"scale: found .*1e\+30"):
                attention(*calls, scale=scale)
    assert ch.attention(*calls, scale=-1e30).item() == 2


def test_float64_takes_a_scale_of_1e300(rng):
    q, k, v = (wide(x) for x in drawn(rng, 3, 9))
    best = ch.attention(q, k, v, scale=1e300, observe=ch.Observe(weights=True))[1].weights
    np.testing.assert_array_equal(best, (best == best.max(-1, keepdims=True)).astype(np.float64))


@pytest.mark.parametrize("level", [FLOAT32.min, -3e38, 3e38, FLOAT32.max])
def test_a_bias_at_the_end_of_the_range_is_finite(rng, level):
    q, k, v = drawn(rng, 3, 70)
    bias = np.full((3, 70), level, np.float32)
    off = against_float64(q, k, v, bias=bias)
    assert off["out"] < 5e-6
    assert off["lse"] < 1e-6
    # The score is less than the last place of such a bias, which leaves equal weights.


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_two_extreme_biases_keep_their_order(zeros, column, kind):
    most = float(np.finfo(kind).max)
    pairs = [(-1.0, -0.735), (-1.0, -0.99), (-0.6, -0.55), (-0.4, 1.0), (0.52, 0.5), (0.99, 1.0)]
    for low, high in pairs:
        bias = np.array([[low * most, high * most]], kind)
        out, seen = ch.attention(
            zeros(1, kind=kind),
            zeros(2, kind=kind),
            column(1, 3, kind=kind),
            bias=bias,
            observe=ch.Observe(top=1, lse=True),
        )
        best = int(high > low)
        assert out.item() == (1, 3)[best]
        assert (seen.top_keys.item(), seen.top_weights.item()) == (best, 1)
        np.testing.assert_allclose(seen.lse.item(), bias.max(), rtol=1e-6)


@pytest.mark.parametrize("sink", [3e38, FLOAT32.max, FLOAT32.min, -3e38])
def test_a_sink_at_the_end_of_the_range_takes_all_or_nothing(zeros, column, sink):
    sinks = np.array([sink], np.float32)
    calls = zeros(1, kind=np.float32), zeros(2, kind=np.float32), column(1, 3, kind=np.float32)
    out, seen = ch.attention(*calls, sinks=sinks, observe=ch.Observe(lse=True))
    assert out.item() == (0 if sink > 0 else 2)
    np.testing.assert_allclose(seen.lse.item(), sinks[0] if sink > 0 else np.log(2), rtol=1e-6)
    bias = np.array([[FLOAT32.max, 0]], np.float32)
    assert ch.attention(*calls, bias=bias, sinks=np.array([-3e38], np.float32)).item() == 1
