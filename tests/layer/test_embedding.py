"""The embedding."""

import numpy as np
import torch

from clearhead.layer.embedding import embed


def test_every_id_becomes_its_row_in_both_libraries(rng):
    table, ids = rng.standard_normal((5, 3)), np.array([[4, 0], [2, 4]])
    np.testing.assert_array_equal(embed(ids, table), table[ids])
    found = embed(torch.from_numpy(ids), torch.from_numpy(table))
    np.testing.assert_array_equal(found.numpy(), table[ids])


def test_no_ids_give_no_rows():
    assert embed(np.zeros((2, 0), np.int64), np.ones((5, 3))).shape == (2, 0, 3)
