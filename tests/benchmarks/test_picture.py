import pytest

from attention_table.cells import CELLS
from attention_table.picture import LEAST, MOST, draw, marks, rows
from attention_table.records import Records


def test_rows_are_the_cells_measured_in_the_order_of_the_table(records):
    assert rows(records) == list(CELLS)
    some = Records()
    for cell in (CELLS[4], CELLS[2]):
        some.add({"cell": cell.name, "kind": "float32", "peers": {}})
    assert rows(some) == [CELLS[2], CELLS[4]]


def test_marks_are_the_ratios_within_the_axis():
    peers = {name: {"median": t} for name, t in {"ours": 1, "torch": 2, "jax": 999}.items()}
    found = marks({"peers": {**peers, "numpy": {"median": 0.1}, "hf": {"failed": "no"}}})
    assert found == {"torch": 2, "jax": MOST, "numpy": LEAST}


@pytest.mark.parametrize(("ending", "begin"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_picture_is_made(records, tmp_path, ending, begin):
    path = tmp_path / f"speed.{ending}"
    draw(records, path)
    assert path.read_bytes().startswith(begin)
    assert path.stat().st_size > 10_000


def test_the_same_records_draw_the_same_picture(records, tmp_path):
    for name in ("a.svg", "b.svg"):
        draw(records, tmp_path / name)
    first, second = ((tmp_path / name).read_text() for name in ("a.svg", "b.svg"))
    assert first == second
    assert "(8, 8, 128, 64), causal" in first
    assert "OpenVINO" not in first
    assert "bfloat16" in first
    draw(records, tmp_path / "one.svg", ["float32"])
    assert "bfloat16" not in (tmp_path / "one.svg").read_text()
