import numpy as np
import torch

import clearhead as ch
from clearhead.core import selection
from clearhead.inputs.call import read


def test_query_head_h_has_the_keys_of_head_h_over_the_group():
    shared = np.arange(2.0).reshape(1, 2, 1, 1)
    assert selection.per_head(shared, 6).reshape(-1).tolist() == [0, 0, 0, 1, 1, 1]
    assert selection.per_head(shared, 2) is shared
    assert selection.per_head(torch.tensor(shared), 4).flatten().tolist() == [0, 0, 1, 1]


def test_a_bias_of_minus_infinity_masks_and_a_low_one_does_not():
    q = np.zeros((1, 1, 1, 1))
    k = np.zeros((1, 1, 3, 1))
    bias = np.array([[0.0, -np.inf, np.finfo(np.float64).min]])
    call = read(q, k, k, bias=bias)
    may = selection.may_look_array(call, q, selection.bias_array(call, q))
    assert may.tolist() == [[[[True, False, True]]]]


def test_what_nobody_sees_becomes_zero_and_what_one_sees_stays():
    x = np.full((1, 1, 3, 1), np.nan)
    call = read(x, x, x, mask=ch.lengths(keys=2, queries=1))
    q, k, v = selection.without_unseen(x, x, x, selection.may_look_array(call, x))
    assert np.isnan(q).reshape(-1).tolist() == [True, False, False]
    assert np.isnan(k).reshape(-1).tolist() == [True, True, False]
    assert np.isnan(v).reshape(-1).tolist() == [True, True, False]


def test_two_batch_axes_keep_their_places():
    x = np.zeros((2, 3, 1, 2, 1))
    call = read(x, x, x, mask=ch.lengths(keys=[[0, 1, 2], [2, 1, 0]]))
    may = selection.may_look_array(call, x)
    assert may.shape == (2, 3, 1, 2, 2)
    assert may.sum((-1, -2, -3)).tolist() == [[0, 2, 4], [4, 2, 0]]
