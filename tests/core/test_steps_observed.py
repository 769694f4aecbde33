"""Every observation against its definition, pair by pair, on the plain and on the fused path."""

import math

import numpy as np
import pytest

import clearhead as ch

ALL = {"entropy": True, "lse": True, "received": True, "weights": True, "top": 3, "map": 2}
OPTIONS = {
    "plain": {},
    "causal": {"mask": ch.causal(align="end")},
    "lengths": {"mask": ch.lengths(keys=[0, 5], queries=[4, 3])},
    "window": {"mask": ch.window(1, 1, offset=1)},
    "segments": {"mask": ch.segments([0, 0, -1, 1, 1, 1, 2], queries=[0, 1, -1, 2])},
    "sinks": {"sinks": np.array([0.5, -2.0]), "mask": ch.causal(offset=-1)},
    "softcap and bias": {"softcap": 1.5, "bias": np.linspace(-3, 3, 7)},
    "alibi": {"bias": ch.alibi([0.5, 0.25], align="end"), "mask": ch.causal()},
    "bias masks": {"bias": np.where(np.arange(28).reshape(4, 7) % 3 == 0, -np.inf, 0.5)},
    "scale": {"scale": -2.0},
}


@pytest.fixture(params=OPTIONS.values(), ids=OPTIONS)
def options(request):
    return request.param


@pytest.fixture
def qkv(rng):
    return [rng.standard_normal((2, h, n, 5)) for h, n in ((2, 4), (1, 7), (1, 7))]


def by_hand(q, k, options):
    """Weights and lse of every query, number by number."""
    samples, heads, queries, width = q.shape
    keys = k.shape[2]
    weights, lse = np.zeros((samples, heads, queries, keys)), np.zeros((samples, heads, queries))
    mask = options.get("mask")
    bias = options.get("bias", 0.0)
    anchor = ch.alibi([1.0], align="end").anchor
    from clearhead.inputs.masks import resolve

    uses_alibi = not isinstance(bias, np.ndarray | float)
    resolved = resolve(mask, (samples,), heads, queries, keys, alibi=uses_alibi and anchor)
    may = np.broadcast_to(resolved.dense(queries, keys), weights.shape)
    for b, h, i in np.ndindex(*lse.shape):
        exps, total = np.zeros(keys), 0.0
        for j in range(keys):
            s = sum(q[b, h, i, d] * k[b, 0, j, d] for d in range(width))
            s *= options.get("scale", 1 / math.sqrt(width))
            cap = options.get("softcap")
            s = s if cap is None else cap * math.tanh(s / cap)
            if uses_alibi:
                s -= bias.slopes[h] * abs(i + keys - queries - j)
            else:
                s += np.broadcast_to(bias, weights.shape)[b, h, i, j]
            if may[b, h, i, j]:
                exps[j] = math.exp(s)
        total = exps.sum()
        if "sinks" in options:
            total += math.exp(options["sinks"][h])
        lse[b, h, i] = math.log(total) if total else -math.inf
        weights[b, h, i] = exps / total if total else 0
    return weights, lse


def test_observations_are_what_their_definitions_say(attention, qkv, options):
    q, k, v = qkv
    out, seen = attention(q, k, v, observe=ch.Observe(**ALL, rows=[-1, 0, 2, 0]), **options)
    p, lse = by_hand(q, k, options)
    np.testing.assert_allclose(out, p @ v, atol=1e-12)
    np.testing.assert_allclose(seen.weights, p, atol=1e-12)
    np.testing.assert_allclose(seen.rows, p[:, :, [-1, 0, 2, 0]], atol=1e-12)
    np.testing.assert_allclose(seen.lse, lse, atol=1e-12)
    live = p.sum(-1) > 0
    assert (seen.visible == live).all()
    logs = np.log(np.where(p > 0, p, 1))
    np.testing.assert_allclose(seen.entropy, -(p * logs).sum(-1), atol=1e-12)
    count = np.maximum(live.sum(-1), 1)[..., None]
    np.testing.assert_allclose(seen.received, p.sum(-2) / count, atol=1e-12)
    assert seen.map.shape == (2, 2, 2, 2)
    for r, c in np.ndindex(2, 2):
        rows, columns = slice(2 * r, 2 * r + 2), slice(4 * c, 4 * c + 4)
        mass = p[:, :, rows, columns].sum((-1, -2)) / np.maximum(live[:, :, rows].sum(-1), 1)
        np.testing.assert_allclose(seen.map[:, :, r, c], mass, atol=1e-12)


def test_top_keys_are_the_largest_in_order_and_no_others(attention, qkv, options):
    q, k, v = qkv
    _, seen = attention(q, k, v, observe=ch.Observe(top=9), **options)
    p, _ = by_hand(q, k, options)
    for b, h, i in np.ndindex(*p.shape[:3]):
        order = sorted((j for j in range(7) if p[b, h, i, j] > 0), key=lambda j: -p[b, h, i, j])
        count = len(order)
        assert seen.top_keys[b, h, i].tolist() == order + [-1] * (9 - count)
        np.testing.assert_allclose(seen.top_weights[b, h, i, :count], p[b, h, i, order], atol=1e-12)
        assert (seen.top_weights[b, h, i, count:] == 0).all()


@pytest.mark.parametrize("what", [{"top": 2}, {"entropy": True}, {"lse": True}, {"received": True},
                                  {"map": 3}, {"rows": [0]}, {"weights": True}, {}],
                         ids=lambda w: next(iter(w), "nothing"))  # fmt: skip
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_asking_never_changes_the_output(attention, qkv, options, what, kind):
    q, k, v = (x.astype(kind) for x in qkv)
    allowed = {
        name: x.astype(np.float32) if isinstance(x, np.ndarray) else x
        for name, x in options.items()
    }
    plain = attention(q, k, v, **allowed)
    out, seen = attention(q, k, v, observe=ch.Observe(**what), **allowed)
    assert out.tobytes() == plain.tobytes()
    asked = {"top_keys", "top_weights"} if "top" in what else set(what)
    given = {name for name in vars(seen) if getattr(seen, name) is not None}
    assert given == asked | {"visible"}


def test_ties_go_to_the_smaller_index(attention, zeros, column):
    _, seen = attention(zeros(1), zeros(40), column(*range(40)), observe=ch.Observe(top=5))
    assert seen.top_keys.tolist() == [[[[0, 1, 2, 3, 4]]]]


def test_received_counts_the_last_valid_queries(attention, zeros):
    q, k = zeros(4), zeros(4)
    mask = ch.causal() & ch.lengths(queries=3)
    _, seen = attention(q, k, k, mask=mask, observe=ch.Observe(received=2))
    expected = [(1 / 2 + 1 / 3) / 2, (1 / 2 + 1 / 3) / 2, 1 / 6, 0]
    np.testing.assert_allclose(seen.received[0, 0], expected, atol=1e-15)
    _, one = attention(q, k, k, mask=mask, observe=ch.Observe(received=1))
    np.testing.assert_allclose(one.received[0, 0], [1 / 3, 1 / 3, 1 / 3, 0], atol=1e-15)
    _, every = attention(q, k, k, mask=mask, observe=ch.Observe(received=True))
    np.testing.assert_allclose(every.received[0, 0], [11 / 18, 5 / 18, 2 / 18, 0], atol=1e-15)


def test_received_adds_up_to_one_over_live_queries(attention, rng):
    q, k = rng.standard_normal((2, 3, 9, 4)), rng.standard_normal((2, 3, 6, 4))
    mask = ch.causal(align="end") & ch.lengths(keys=[6, 0], queries=[9, 5])
    _, seen = attention(q, k, k, mask=mask, observe=ch.Observe(received=True, map=4))
    np.testing.assert_allclose(seen.received.sum(-1), [[1] * 3, [0] * 3], atol=1e-12)
    assert seen.map.shape == (2, 3, 3, 3)
    np.testing.assert_allclose(seen.map.sum(-1)[1], 0)


def test_map_blocks_follow_the_shape(attention, rng):
    q, k = rng.standard_normal((1, 1, 10, 4)), rng.standard_normal((1, 1, 7, 4))
    _, seen = attention(q, k, k, observe=ch.Observe(map=4, weights=True))
    assert seen.map.shape == (1, 1, 4, 4)  # blocks of 3 queries and 2 keys
    p = seen.weights[0, 0]
    np.testing.assert_allclose(seen.map[0, 0, 3, 3], p[9, 6], atol=1e-12)
    np.testing.assert_allclose(seen.map[0, 0, 1, 2], p[3:6, 4:6].sum() / 3, atol=1e-12)
    _, whole = attention(q, k, k, observe=ch.Observe(map=100, weights=True))
    np.testing.assert_allclose(whole.map, whole.weights, atol=1e-12)


def test_a_dead_query_is_flagged_and_all_zero(attention, zeros, column):
    mask = np.array([[True, True], [False, False]])
    observe = ch.Observe(**ALL, rows=[1])
    out, seen = attention(zeros(2), zeros(2), column(1, 3), mask=mask, observe=observe)
    assert out.reshape(-1).tolist() == [2, 0]
    assert seen.visible.reshape(-1).tolist() == [True, False]
    assert seen.lse[0, 0, 1] == -math.inf
    assert seen.entropy[0, 0, 1] == 0
    assert seen.top_keys[0, 0, 1].tolist() == [-1, -1, -1]
    assert (seen.rows == 0).all()
    with_sink, seen = attention(
        zeros(2), zeros(2), column(1, 3), mask=mask, sinks=np.array([0.75]), observe=observe
    )
    assert with_sink[0, 0, 1, 0] == 0
    np.testing.assert_allclose(seen.lse[0, 0, 1], 0.75, atol=1e-15)
    assert seen.visible.reshape(-1).tolist() == [True, False]


def test_rows_out_of_range_are_refused(attention, zeros):
    x = zeros(3)
    with pytest.raises(ch.ClearheadError, match="rows: found query 3 beside 3 queries"):
        attention(x, x, x, observe=ch.Observe(rows=[0, 3]))
