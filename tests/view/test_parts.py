import io
import re

import pytest

from clearhead.view import parts
from clearhead.view.parts import (
    bar,
    console_for,
    fitted,
    paragraph,
    percent,
    printed_width,
    shortened,
)


def luminance(colour):
    """WCAG's relative luminance of a colour of the 256-colour table's cube or grey ramp."""
    number = int(re.fullmatch(r"color\((\d+)\)", colour)[1])
    if number >= 232:
        rgb = [8 + 10 * (number - 232)] * 3
    else:
        cube = number - 16
        rgb = [[0, 95, 135, 175, 215, 255][k] for k in (cube // 36, cube // 6 % 6, cube % 6)]
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", [parts.ACCENT, parts.GUIDED, parts.QUIET])
def test_colours_are_read_on_a_white_and_on_a_black_ground(colour):
    assert 1.05 / (luminance(colour) + 0.05) >= 4.5
    assert (luminance(colour) + 0.05) / 0.05 >= 4.5


@pytest.mark.parametrize("share", [0.0, 0.001, 0.005, 0.3, 0.999, 1.0, 1.7, -0.2])
def test_a_bar_is_as_long_as_its_share(share):
    drawn = bar(share, 20)
    assert len(drawn) <= 20
    assert abs(drawn.count("━") + drawn.count("╸") / 2 - 20 * min(max(share, 0), 1)) <= 0.5
    assert bool(drawn) is (share >= 0.005)


@pytest.mark.parametrize(
    ("share", "told"),
    [(0, "0 %"), (1e-9, "<1 %"), (0.005, "0 %"), (0.006, "1 %"), (0.5, "50 %"), (1.0, "100 %"),
     (0.996, ">99 %"), (0.99, "99 %")],
)  # fmt: skip
def test_shares_are_told_in_whole_per_cent(share, told):
    assert percent(share) == told


@pytest.mark.parametrize(
    "text", ["", "a", "street", "日本語日本語", "🙂🙂🙂", "e\u0301" * 9, "x" * 50_000]
)
@pytest.mark.parametrize("right", [False, True])
def test_text_is_fitted_to_columns(text, right):
    for width in (1, 2, 5, 8):
        assert printed_width(fitted(text, width, right)) == width


def test_what_is_cut_is_marked():
    assert fitted("because", 4) == "bec…"
    assert shortened("ab" * 3_000).endswith("… (6,000 characters)")
    assert shortened("ab") == "ab"


def test_a_paragraph_is_set_in_and_broken_between_words():
    lines = [line.plain for line in paragraph(console_for(io.StringIO(), width=24), "a " * 30)]
    assert len(lines) == 3
    assert all(line.startswith("  a") and len(line) <= 22 for line in lines)


def test_no_colour_off_a_terminal(monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    file = io.StringIO()
    console_for(file).print("[red]x", style=parts.ACCENT)
    assert file.getvalue() == "[red]x\n"


def test_long_lines_are_not_made_longer_by_a_wide_terminal():
    assert console_for(io.StringIO(), width=300).width == 100
    assert console_for(io.StringIO(), width=1).width == 20
