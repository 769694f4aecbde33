import pytest
import torch

from attention_table.cells import CELLS, Cell, chosen
from attention_table.inputs import Inputs

SMALL = [
    Cell("short", 2, 3, 5, 4),
    Cell("short", 2, 3, 5, 4, "causal"),
    Cell("padded", 2, 3, 5, 4, "padded", lengths=(2, 5)),
    Cell("window", 2, 3, 5, 4, "window", before=1),
    Cell("decoding", 1, 4, 1, 4, keys=6, kv_heads=2),
]


def test_names_are_those_of_one_cell_each():
    assert len({cell.name for cell in CELLS}) == len(CELLS) == 25
    assert len({cell.title for cell in CELLS}) == len(CELLS)


def test_shapes_of_the_table():
    plain = {cell.shape for cell in CELLS if cell.looked}
    assert plain == {
        (8, 8, 128, 64), (1, 8, 512, 64), (4, 12, 512, 64), (32, 8, 32, 64), (1, 8, 2048, 64),
        (1, 8, 8192, 64), (1, 16, 2048, 128), (1, 32, 2048, 128), (2, 8, 1024, 80),
    }  # fmt: skip
    by_name = {cell.name: cell for cell in CELLS}
    padded = by_name["8x8x512x64-padded"]
    assert sum(padded.lengths) * 2 == padded.batch * padded.keys
    packed = by_name["32x8x512x64-packed"]
    assert len(packed.lengths) == 32
    assert (min(packed.lengths), max(packed.lengths)) == (10, 512)
    decode = by_name["decode-32768"]
    assert (decode.heads, decode.kv_heads, decode.queries, decode.keys) == (32, 8, 1, 32768)
    assert decode.read_bytes("float32") == 2 * 8 * 32768 * 128 * 4
    assert by_name["1x4x8192x64-window"].before == 255


@pytest.mark.parametrize("cell", SMALL, ids=lambda c: c.mask)
def test_pairs_are_those_that_the_mask_leaves(cell):
    mask = Inputs(cell, "float32", 0).mask
    shape = cell.batch, cell.heads, cell.queries, cell.keys
    seen = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
    assert cell.pairs == int(seen.sum())
    assert cell.operations == 4 * cell.width * cell.pairs


def test_pairs_of_packed_sequences_are_those_within_each():
    cell = Cell("packed", 3, 2, 5, 4, "packed", lengths=(1, 5, 2))
    assert cell.pairs == 2 * (1 + 25 + 4)


def test_cells_are_chosen_by_a_part_of_their_name():
    assert {cell.mask for cell in chosen(["causal"])} == {"causal"}
    assert [cell.name for cell in chosen(["decode"])] == ["decode-4096", "decode-32768"]
    assert chosen(None) == list(CELLS)
    with pytest.raises(SystemExit, match="no cell is named nonsense; see --list"):
        chosen(["nonsense"])
