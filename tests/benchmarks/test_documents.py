import pytest

from attention_table.cells import CELLS
from attention_table.documents import ROOT, filled, front_table, full_table, machine_table, write


def test_the_pages_have_their_places_and_are_written_twice_alike(records, tmp_path):
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "docs/speed.md"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    written = write(records, tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "README.md", "docs/speed.md", "docs/speed.svg",
    ]  # fmt: skip
    first = [path.read_text() for path in written]
    assert "![How many times" in first[0]
    assert "| (8, 8, 128, 64) | 2.0 x | 2.0 x | 2.0 x | 2.0 x | 1.25 x |" in first[0]
    assert "## Set up and test" in first[0]
    assert "## Where each gap comes from" in first[1]
    write(records, tmp_path)
    assert [path.read_text() for path in written] == first


def test_a_page_without_its_place_is_refused():
    with pytest.raises(SystemExit, match="no single pair of <!-- a --> and <!-- end a -->"):
        filled("text", "a", "new")


def test_every_cell_is_a_row_with_its_aim_and_its_misses(records):
    lines = full_table(records, "float32").splitlines()
    assert len(lines) == 2 + len(CELLS) + 1
    assert lines[0].endswith("| looking | FlexAttention | JAX |")
    causal = next(text for text in lines if "(1, 8, 512, 64), causal" in text)
    assert "| 2.00 ↓ | 2.1 / 3 | 1.25 | 8.00 | 0.50 ↓ |" in causal
    decoding = next(text for text in lines if "4,096" in text)
    assert "2.00 ↓; on a view 1.50 | 3 / 4; 1.4 / 2" in decoding
    assert lines[-1].startswith("| geometric mean |")


def test_the_machine_is_told_with_versions_and_who_is_missing(records):
    text = machine_table(records)
    assert "Measured 2030-01-01 on Fast, 2 processors, 2 threads, our avx512 kernels." in text
    assert "| dot products in bfloat16 (the peak of bfloat16) | 800.0 G operations |" in text
    assert "| reading 34 MB | 50.0 GB |" in text
    assert "Beside torch 9.9." in text
    assert "Not installed: openvino." in text


def test_the_front_page_tells_the_means(records):
    text = front_table(records)
    assert "in float32 torch 2.0, FlexAttention 8.0, JAX 0.5; in bfloat16 torch 2.0" in text
    assert text.count("\n| (") == 1 + 9
