import io

import numpy as np
import pytest

from clearhead.record.tracing import trace
from clearhead.view.parts import console_for, printed_width
from clearhead.view.steps import show_steps

SENTENCE = "The animal didn't cross the street because it was too tired."
NAMES = (
    "queries, keys, values", "scores", "scaled_scores", "weights", "weighted_values",
    "head_outputs", "concatenated", "output",
)  # fmt: skip


def shown(found, width=80):
    file = io.StringIO()
    show_steps(found, console_for(file, width))
    return file.getvalue()


@pytest.fixture(scope="module")
def found(translator):
    return trace(SENTENCE, "it", layer=1, head=0, model=translator)


def test_the_steps_come_by_name_and_in_order(found):
    text = shown(found)
    places = [text.index(f"\n  {i}  {name}") for i, name in enumerate(NAMES, 1)]
    assert places == sorted(places)


@pytest.mark.parametrize("width", [40, 48, 56, 80])
def test_lines_fit_the_terminal_down_to_40_columns(found, width):
    assert max(printed_width(line) for line in shown(found, width).splitlines()) <= width


def test_shapes_are_the_models_own(found):
    text, n = shown(found), len(found.record.pieces)
    for shape in (f"({n}, 16)", f"({n}, 8)", f"({n}, {n})", f"({n}, {n}, 8)"):
        assert shape in text


def test_the_whole_row_is_there_with_real_numbers(found):
    lines = shown(found).splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["piece", "score"])
    table = lines[start + 1 : start + 1 + len(found.record.pieces)]
    for j, line in enumerate(table):
        numbers = [word for word in line.split() if word.lstrip("-").replace(".", "").isdigit()]
        assert f"{found.row('scores')[j]:.3f}" in numbers
        assert f"{found.row('scaled_scores')[j]:.3f}" in numbers
    assert lines[start + 1 + len(table)].split() == ["sum", "100", "%"]


def test_the_first_numbers_of_a_vector_are_written_out(found):
    line = next(line for line in shown(found).splitlines() if " Z of " in line)
    numbers = [float(word) for word in line.split() if "." in word]
    np.testing.assert_allclose(numbers, found.row("head_outputs")[: len(numbers)], atol=6e-4)
    assert line.endswith("…")


def test_it_ends_with_the_difference_to_the_models_own_output(found):
    assert f"{found.difference:.1e}" in shown(found).rstrip().splitlines()[-1]


def test_a_guided_head_is_called_so(found, translator):
    assert "(guided)" in shown(found)
    assert "(guided)" not in shown(trace(SENTENCE, "it", layer=0, head=0, model=translator))


@pytest.mark.parametrize("width", [72, 80, 100])
def test_lines_fit_the_terminal(found, width):
    for line in shown(found, width).splitlines():
        assert printed_width(line) <= width


def test_parts_of_words_and_odd_words_are_labelled(translator):
    text = shown(trace("Łódź \x1b[1m didn't 🙂", model=translator))
    assert "\x1b" not in text
    assert "\ufffd" not in text
    pieces = [line.split()[0] for line in text.split("weight\n")[1].splitlines() if line.strip()]
    assert "1-" in pieces  # the word goes on
    assert "</s>" in pieces
