import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.errors import ClearheadError, MaskError, ShapeError
from clearhead.inputs.call import read


def test_a_plain_call_means_the_defaults():
    x = np.zeros((2, 4, 3, 16), np.float32)
    call = read(x, x, x)
    assert (call.kind, call.scale, call.softcap) == ("float32", 0.25, None)
    assert call.mask.everything
    assert call.bias is call.alibi is call.sinks is None


def test_alibi_is_kept_as_a_rule_with_the_offsets_of_the_mask():
    q, k = torch.zeros(1, 2, 3, 8), torch.zeros(1, 1, 5, 8)
    call = read(q, k, k, mask=ch.causal(align="end"), bias=ch.alibi([0.5, 0.25]))
    assert call.bias is None
    assert call.mask.anchor.tolist() == [2]
    with pytest.raises(ShapeError, match="found 2 slopes; wanted 4"):
        read(torch.zeros(1, 4, 3, 8), k, k, bias=ch.alibi([0.5, 0.25], offset=0))
    with pytest.raises(MaskError, match="no anchor"):
        read(q, k, k, bias=ch.alibi([0.5, 0.25]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"mask": np.zeros((3, 3))},
        {"mask": np.ones((4, 4), bool)},
        {"mask": 7},
        {"bias": np.ones((3, 3), bool)},
        {"bias": np.zeros((3, 3), np.float16)},
        {"bias": "alibi"},
        {"scale": float("nan")},
        {"softcap": -1},
        {"sinks": np.zeros(5, np.float32)},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_every_argument_is_refused_with_its_name_in_front(wrong):
    x = np.zeros((2, 4, 3, 16), np.float32)
    with pytest.raises(ClearheadError, match=f"^{next(iter(wrong))}: found"):
        read(x, x, x, **wrong)
