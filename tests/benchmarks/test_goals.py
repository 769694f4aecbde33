import pytest

from attention_table.cells import CELLS
from attention_table.goals import Goal

BY_NAME = {cell.name: cell for cell in CELLS}


def goals(name, kind):
    return {goal.of: (goal.floor, goal.beyond) for goal in BY_NAME[name].goals(kind)}


@pytest.mark.parametrize(("name", "kind", "of", "floor", "beyond"), [
    ("8x8x128x64", "float32", "torch", 1.4, 2),
    ("1x8x512x64-causal", "bfloat16", "torch", 2.8, 4),
    ("8x8x128x64-causal", "bfloat16", "torch", 1.8, 4),
    ("1x4x8192x64-window", "bfloat16", "torch", 20, 40),
    ("32x8x32x64", "float32", "looking", 1.4, 1.15),
    ("1x8x2048x64", "float32", "looking", 1.2, 1.05),
    ("1x8x2048x64", "bfloat16", "seeing", 1, 2),
    ("1x8x2048x64-causal", "float32", "share", 0.64, 0.85),
    ("1x8x8192x64", "bfloat16", "share", 0.4, 0.7),
    ("decode-4096", "float32", "viewed", 1.4, 2),
])  # fmt: skip
def test_what_a_cell_is_held_to(name, kind, of, floor, beyond):
    assert goals(name, kind)[of] == (floor, beyond)


def test_every_cell_is_held_to_torch_and_to_every_other_peer():
    for cell in CELLS:
        for kind in ("float32", "bfloat16", "float16"):
            assert {"torch", "others"} <= {goal.of for goal in cell.goals(kind)}


def test_float16_has_one_floor():
    assert goals("8x8x128x64", "float16")["torch"][0] == 1.2
    assert goals("1x8x16x64", "float16")["torch"][0] == pytest.approx(1 / 1.5)


def test_decoding_in_bfloat16_is_held_to_the_reading():
    assert goals("decode-32768", "bfloat16")["share"][0] == 0.8
    assert "share" not in goals("decode-32768", "float32")


def test_a_verdict_includes_its_bounds():
    more, less = Goal("torch", 1.4, 2.0), Goal("looking", 1.2, 1.05, at_most=True)
    assert [more.verdict(x) for x in (1.39, 1.4, 2.0)] == ["miss", "floor", "beyond"]
    assert [less.verdict(x) for x in (1.21, 1.2, 1.05)] == ["miss", "floor", "beyond"]
    assert Goal("others", 1.0).verdict(1e9) == "floor"
