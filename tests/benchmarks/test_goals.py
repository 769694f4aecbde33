from math import inf

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
    ("1x8x512x64", "float32", "torch", 1.4, 2),
    ("4x12x512x64", "bfloat16", "torch", 1.8, 3),
    ("4x12x512x64-causal", "float32", "torch", 2.1, 3),
    ("32x8x32x64", "float32", "torch", 1.4, 2),
    ("32x8x32x64-causal", "float32", "torch", 1.5, 2),
    ("32x8x32x64-causal", "bfloat16", "torch", 3, 4),
    ("1x8x8192x64", "float32", "torch", 1.3, 2),
    ("1x8x2048x64", "bfloat16", "torch", 1.8, 3),
    ("1x8x2048x64-causal", "float32", "torch", 1.4, 2.2),
    ("1x8x8192x64-causal", "bfloat16", "torch", 1.8, 3.3),
    ("1x16x2048x128", "float32", "torch", 1.15, 2),
    ("1x32x2048x128-causal", "float32", "torch", 1.35, 2),
    ("1x32x2048x128-causal", "bfloat16", "torch", 1.8, 2.5),
    ("2x8x1024x80", "float32", "torch", 1.1, 1.6),
    ("2x8x1024x80-causal", "bfloat16", "torch", 1.2, 2),
    ("8x8x512x64-padded", "float32", "torch", 2, 3),
    ("8x8x512x64-padded", "bfloat16", "torch", 2.5, 4),
    ("32x8x512x64-packed", "float32", "torch", 3, 5),
    ("32x8x512x64-packed", "bfloat16", "torch", 3, 6),
    ("1x4x8192x64-window", "float32", "torch", 15, 30),
    ("1x8x1024x64-bias", "float32", "torch", 1.4, 2),
    ("1x8x1024x64-bias", "bfloat16", "torch", 1.5, 2.5),
    ("1x8x512x64", "float32", "looking", 1.35, 1.15),
    ("1x8x512x64", "bfloat16", "seeing", 1, 2),
    ("1x8x8192x64", "float32", "share", 0.64, 0.85),
    ("decode-32768", "float32", "torch", 3, 4),
    ("decode-4096", "float32", "viewed", 1.4, 2),
    ("decode-4096", "bfloat16", "torch", 3, inf),
    ("decode-32768", "bfloat16", "viewed", 1.4, inf),
])  # fmt: skip
def test_what_a_cell_is_held_to(name, kind, of, floor, beyond):
    assert goals(name, kind)[of] == (floor, beyond)


def test_every_cell_is_held_to_torch_and_to_every_other_peer():
    for cell in CELLS:
        for kind in ("float32", "bfloat16", "float16"):
            assert {"torch", "others"} <= {goal.of for goal in cell.goals(kind)}


def test_float16_has_one_floor_in_every_cell_but_the_small_call():
    for cell in CELLS:
        floors = {name: floor for name, (floor, _) in goals(cell.name, "float16").items()}
        floor = pytest.approx(1 / 1.5) if cell.row == "one call" else 1.2
        assert floors.pop("torch") == floor
        assert floors.pop("others") == 1
        assert floors == ({"viewed": 1.2} if cell.row == "decoding" else {})


def test_decoding_in_bfloat16_is_held_to_the_reading():
    assert goals("decode-32768", "bfloat16")["share"][0] == 0.8
    assert "share" not in goals("decode-32768", "float32")


def test_a_verdict_includes_its_bounds():
    more, less = Goal("torch", 1.4, 2.0), Goal("looking", 1.2, 1.05, at_most=True)
    assert [more.verdict(x) for x in (1.39, 1.4, 2.0)] == ["miss", "floor", "beyond"]
    assert [less.verdict(x) for x in (1.21, 1.2, 1.05)] == ["miss", "floor", "beyond"]
    assert Goal("others", 1.0).verdict(1e9) == "floor"
