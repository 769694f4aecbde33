"""Faults of other software, as kinds: at which key a query stands, causal masks that are lost."""

import numpy as np
import pytest

import clearhead as ch
from clearhead.errors import MaskError


def flat(out):
    return np.asarray(out).reshape(-1).tolist()


def test_fewer_queries_than_keys_say_where_they_stand(attention, zeros, column):
    q, k, v = zeros(2), zeros(4), column(0, 1, 2, 3)
    assert flat(attention(q, k, v, mask=ch.causal(align="end"))) == [1, 1.5]
    assert flat(attention(q, k, v, mask=ch.causal(offset=0))) == [0, 0.5]
    with pytest.raises(MaskError, match=r"offset=0 .* align='end'"):
        attention(q, k, v, mask=ch.causal())


def test_more_queries_than_keys_leave_the_first_without_any(attention, zeros, column):
    assert flat(attention(zeros(4), zeros(2), column(1, 3), mask=ch.causal(align="end"))) == [
        0, 0, 1, 2,
    ]  # fmt: skip


@pytest.mark.parametrize("size", [2, 33, 130])
def test_causal_holds_without_any_other_mask(attention, rng, size):
    x = rng.standard_normal((1, 2, size, 8)).astype(np.float32)
    assert attention(x, x, x, mask=ch.causal())[:, :, 0].tobytes() == x[:, :, 0].tobytes()


def test_causal_works_with_weights_and_with_padding(attention, rng):
    x = rng.standard_normal((2, 2, 6, 4))
    for mask in (ch.causal(), ch.causal() & ch.lengths(keys=[6, 3])):
        plain = attention(x, x, x, mask=mask)
        out, seen = attention(x, x, x, mask=mask, observe=ch.Observe(weights=True))
        assert out.tobytes() == plain.tobytes()
        np.testing.assert_allclose(seen.weights @ x, out, atol=1e-12)
        assert (np.triu(seen.weights, 1) == 0).all()


def test_causal_beside_a_mask_is_their_intersection(attention, zeros, column):
    only_first = np.array([[True, False, False]])
    q, k, v = zeros(3), zeros(3), column(5, 7, 9)
    for mask in (ch.causal() & only_first, only_first & ch.causal()):
        assert flat(attention(q, k, v, mask=mask)) == [5, 5, 5]
    only_last = np.array([[False, False, True]])
    assert flat(attention(q, k, v, mask=ch.causal() & only_last)) == [0, 0, 9]


@pytest.mark.parametrize("sizes", [(3, 3), (3, 5)])
def test_nothing_is_causal_unless_it_is_said(attention, zeros, column, sizes):
    queries, keys = sizes
    out = attention(zeros(queries), zeros(keys), column(*range(keys)))
    assert flat(out) == [(keys - 1) / 2] * queries
    padded = attention(zeros(queries), zeros(keys), column(*range(keys)), mask=ch.lengths(keys=2))
    assert flat(padded) == [0.5] * queries


def test_a_preallocated_cache_is_aligned_to_its_valid_length(attention, zeros, column):
    v = np.concatenate([column(0, 1, 2, 3, 4, 5)] * 2)
    mask = ch.causal(align="end") & ch.lengths(keys=[4, 6])
    out = attention(zeros(2, batch=2), zeros(6, batch=2), v, mask=mask)
    assert flat(out) == [1, 1.5, 2, 2.5]
