"""The best next pieces, against sorting everything."""

import numpy as np
import pytest

from clearhead.model.candidates import best_pieces, log_sum_exp


@pytest.mark.parametrize("width", [3, 40, 41, 399, 1000, 1013])
@pytest.mark.parametrize("count", [1, 2, 8, 30])
def test_the_best_are_those_of_a_full_sort(rng, width, count):
    count = min(count, width)
    scores = rng.standard_normal((7, width)).astype(np.float32)
    pieces, found = best_pieces(scores, count)
    np.testing.assert_array_equal(pieces, np.argsort(-scores, axis=1, kind="stable")[:, :count])
    np.testing.assert_array_equal(found, np.take_along_axis(scores, pieces, axis=1))


def test_pieces_that_may_not_come_are_last(rng):
    scores = np.full((1, 1000), -np.inf, np.float32)
    scores[0, [7, 900]] = [1, 2]
    pieces, found = best_pieces(scores, 4)
    assert pieces[0, :2].tolist() == [900, 7]
    assert np.isneginf(found[0, 2:]).all()


def test_log_sum_exp_is_exact_and_does_not_overflow(rng):
    scores = rng.standard_normal((40, 500)).astype(np.float32)
    wanted = np.log(np.exp(scores.astype(np.float64)).sum(axis=1))
    np.testing.assert_allclose(log_sum_exp(scores), wanted, atol=1e-5)
    np.testing.assert_allclose(log_sum_exp(scores + 5000), wanted + 5000, atol=2e-3)
    assert log_sum_exp(np.zeros((0, 5), np.float32)).shape == (0,)


def test_scores_are_as_before(rng):
    scores = rng.standard_normal((3, 50)).astype(np.float32)
    scores[1] = -np.inf
    scores[2, 1:] = -np.inf
    before = scores.copy()
    pieces, found = best_pieces(scores, 2)
    np.testing.assert_array_equal(scores, before)
    assert np.isneginf(found[1]).all()
    assert pieces[2, 0] == 0
    assert found[2, 0] == before[2, 0]
