import pytest

from clearhead.view.parts import printed_width
from clearhead.view.rows import columns_of, name_width, row_of

WORDS = ("animal", "it", "a" * 40)


@pytest.mark.parametrize(("words", "width"), [(["it"], 8), (["a" * 11], 11), (WORDS, 14), ([], 8)])
def test_names_have_as_many_columns_as_the_longest_within_reason(words, width):
    assert name_width(words) == width


@pytest.mark.parametrize("width", range(40, 121))
def test_a_row_fits_its_terminal(width):
    columns = columns_of(WORDS, width, len("special pieces"))
    texts = ("animal", "a" * 40, "▇" * 30, "100.0 %", "11", "11", "100.0 %")
    line = row_of(columns, texts, guided=True)
    assert printed_width(line.plain) <= width
    assert line.plain.endswith("guided")


def test_narrow_terminals_have_no_bars_and_roomy_ones_show_what_is_set_aside():
    assert columns_of(WORDS, 50, 8)[2] == 0
    assert len(columns_of(WORDS, 60, 8)) == 6
    assert len(columns_of(WORDS, 80, 8)) == 7
