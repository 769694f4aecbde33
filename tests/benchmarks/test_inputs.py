import numpy as np
import pytest

from attention_table.cells import Cell
from attention_table.inputs import Inputs, error_of
from clearhead.core import steps

CELLS = [
    Cell("short", 2, 2, 9, 8),
    Cell("short", 2, 2, 9, 8, "causal"),
    Cell("padded", 2, 2, 9, 8, "padded", lengths=(4, 9)),
    Cell("window", 1, 2, 9, 8, "window", before=2),
    Cell("bias", 1, 2, 9, 8, bias=True),
    Cell("decoding", 1, 4, 1, 8, keys=9, kv_heads=2),
]


def judged(inputs, mask="its own"):
    """The plain steps' answer."""
    seen = inputs.mask if mask == "its own" else mask
    seen = None if seen is None else np.asarray(seen)
    if seen is not None and seen.ndim == 4:
        seen = np.broadcast_to(seen, (*inputs.q.shape[:3], inputs.k.shape[2]))
    bias = None if inputs.bias is None else inputs.bias.numpy()
    q, k, v = (x.numpy() for x in (inputs.q, inputs.k, inputs.v))
    return steps.attention(q, k, v, mask=seen, bias=bias)


@pytest.mark.parametrize("cell", CELLS, ids=lambda c: c.row)
def test_the_right_result_has_the_error_of_rounding(cell):
    inputs = Inputs(cell, "float32", 1)
    assert error_of(judged(inputs), inputs) < 1e-5


def test_one_key_too_many_or_none_at_all_is_seen():
    cell = Cell("window", 1, 2, 40, 8, "window", before=20)
    inputs = Inputs(cell, "float32", 1)
    off_by_one = Inputs(Cell("window", 1, 2, 40, 8, "window", before=21), "float32", 1)
    assert error_of(judged(off_by_one), inputs) > 4e-2
    assert error_of(judged(inputs) * np.float32("nan"), inputs) == np.inf
    assert error_of(judged(inputs)[:, :1], inputs) == np.inf


def test_inputs_follow_the_seed_and_the_kind():
    cell = CELLS[0]
    first, again, other = (Inputs(cell, "bfloat16", seed) for seed in (1, 1, 2))
    assert first.q.dtype == first.dtype
    assert (first.q == again.q).all()
    assert not (first.q == other.q).all()


def test_packed_rows_are_the_padded_batch_without_padding():
    cell = Cell("packed", 3, 2, 6, 4, "packed", lengths=(2, 6, 1))
    inputs = Inputs(cell, "float32", 0)
    packed = inputs.packed[0]
    assert packed.shape == (1, 2, 9, 4)
    assert inputs.segments.tolist() == [0, 0, 1, 1, 1, 1, 1, 1, 2]
    padded = inputs.with_padding(packed.numpy())
    for sample, length in enumerate(cell.lengths):
        assert (padded[sample, :, :length] == inputs.q[sample, :, :length].numpy()).all()
        assert (padded[sample, :, length:] == 0).all()


def test_the_additive_mask_says_the_same_as_the_boolean_one():
    for cell in CELLS[1:4]:
        inputs = Inputs(cell, "float32", 0)
        assert ((inputs.additive == 0) == inputs.mask).all()
        assert inputs.additive.ndim == 4
