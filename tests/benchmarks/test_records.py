import json

import pytest

from attention_table.cells import CELLS
from attention_table.peers import PEERS, TORCH, Peer
from attention_table.records import Records, machine, versions

HERE = {"processor": "Fast, 2 processors", "threads": 2}


def cell(name, kind="float32"):
    return {"cell": name, "kind": kind, "peers": {}}


def test_lines_are_kept_at_once_and_read_again(tmp_path):
    path = tmp_path / "speed.jsonl"
    first = Records(path)
    first.begin(HERE)
    first.add({"rates": {"fma_float32": 1.0}})
    first.add({"versions": {"torch": "torch 9"}, "absent": {"jax": "pip install jax"}})
    first.add(cell(CELLS[1].name))
    assert len(path.read_text().splitlines()) == 4
    again = Records(path)
    again.begin(HERE)
    assert again.has(CELLS[1].name, "float32")
    assert not again.has(CELLS[1].name, "bfloat16")
    assert again.rates == [{"fma_float32": 1.0}]
    assert again.absent == {"jax": "pip install jax"}
    assert len(path.read_text().splitlines()) == 4


def test_records_of_another_machine_are_refused(tmp_path):
    path = tmp_path / "speed.jsonl"
    Records(path).begin(HERE)
    with pytest.raises(SystemExit, match="measured with threads 2, here is threads 1; name anoth"):
        Records(path).begin({**HERE, "threads": 1})


def test_a_line_cut_short_by_a_crash_is_measured_again(tmp_path):
    path = tmp_path / "speed.jsonl"
    records = Records(path)
    records.begin(HERE)
    records.add(cell(CELLS[0].name))
    path.write_text(path.read_text() + '{"cell": "1x8x5')
    again = Records(path)
    assert [r["cell"] for r in again.cells] == [CELLS[0].name]
    again.add(cell(CELLS[1].name))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("cell") for line in lines] == [None, CELLS[0].name, CELLS[1].name]


def test_cells_come_in_the_order_of_the_table():
    records = Records()
    for place in (3, 1, 2):
        records.add(cell(CELLS[place].name))
    records.add(cell(CELLS[0].name, "float16"))
    assert [r["cell"] for r in records.of("float32")] == [CELLS[i].name for i in (1, 2, 3)]
    assert records.kinds == ["float32", "float16"]


def test_who_is_absent_is_told_with_how_to_get_it():
    odd = Peer("odd", "Odd", ("no-such-library-anywhere", "torch"), lambda *_: {})
    known, absent = versions([TORCH, odd])
    assert known["torch"].startswith("torch ")
    assert absent["odd"].endswith("pip install no-such-library-anywhere torch")
    assert {peer.name for peer in PEERS} == set(versions(list(PEERS))[0] | versions(list(PEERS))[1])


def test_the_machine_names_what_times_depend_on():
    found = machine(1)
    assert found["threads"] == 1
    assert {"processor", "isa", "build", "clearhead", "torch"} < set(found)
