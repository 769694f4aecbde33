"""Every peer that is installed computes what it is timed for; the others say how to get them."""

from importlib.util import find_spec

import pytest
import torch

from attention_table.cells import Cell
from attention_table.inputs import Inputs, error_of
from attention_table.measuring import ALLOWED
from attention_table.peers import LOOKING, OURS, PEERS, TORCH, VIEWED, Absent, chosen_peers

CELLS = [
    Cell("short", 2, 2, 32, 16, looked=True),
    Cell("short", 2, 2, 32, 16, "causal", looked=True),
    Cell("padded", 2, 2, 32, 16, "padded", lengths=(20, 7)),
    Cell("packed", 2, 2, 32, 16, "packed", lengths=(32, 9)),
    Cell("window", 1, 2, 32, 16, "window", before=4),
    Cell("bias", 1, 2, 32, 16, bias=True),
    Cell("decoding", 1, 4, 1, 16, keys=24, kv_heads=2),
]
ALL = (OURS, LOOKING, TORCH, VIEWED, *PEERS)


@pytest.fixture
def uncompiled(monkeypatch):
    """FlexAttention as plain steps: compiling takes longer than all other tests of benchmarks."""
    from torch.nn.attention.flex_attention import flex_attention

    from attention_table.peers import torch_ways

    monkeypatch.setattr(torch_ways, "_compiled", lambda: flex_attention)


def installed(peer):
    return all(find_spec(package) for package in peer.packages)


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("cell", CELLS, ids=lambda c: c.mask + "-" + c.row)
@pytest.mark.parametrize("peer", ALL, ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore")
def test_every_way_is_right(peer, cell, kind, uncompiled):
    if not installed(peer):
        with pytest.raises(Absent, match="is not installed: pip install"):
            peer.version()
        return
    if kind not in peer.kinds:
        return
    inputs = Inputs(cell, kind, 3)
    with torch.no_grad():
        for name, way in peer.ways(inputs, 1).items():
            error = error_of(way.read(way.call()), inputs)
            assert error < ALLOWED[kind], f"{peer.name}, {name}: {error}"


def test_only_decoding_is_asked_on_a_view():
    assert not VIEWED.ways(Inputs(CELLS[0], "float32", 0), 1)
    assert VIEWED.ways(Inputs(CELLS[-1], "float32", 0), 1)


def test_looking_is_timed_where_the_cell_says_so():
    assert LOOKING.ways(Inputs(CELLS[0], "float32", 0), 1)
    assert not LOOKING.ways(Inputs(CELLS[2], "float32", 0), 1)


def test_scores_in_memory_are_counted():
    eager = next(peer for peer in PEERS if peer.name == "eager")
    assert eager.memory(CELLS[0]) == 3 * 4 * 2 * 2 * 32 * 32
    assert TORCH.memory(CELLS[0]) == 0


def test_peers_are_chosen_by_name():
    assert [peer.name for peer in chosen_peers(["numpy", "jax"])] == ["jax", "numpy"]
    assert chosen_peers([]) == []
    assert chosen_peers(None) == list(PEERS)
    with pytest.raises(SystemExit, match="no peer is named fast; there are eager, flex"):
        chosen_peers(["fast"])
