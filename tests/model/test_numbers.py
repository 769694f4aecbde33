"""Numbers of the source, and the digits that a search may write."""

import numpy as np
import pytest

from clearhead.model.beam import Beams
from clearhead.model.hypotheses import Pieces, Search
from clearhead.model.numbers import Digits, numbers_in

DIGITS = Digits(plain={4: "4", 9: "9", 5: "0"}, spaced={14: "4", 19: "9"})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("no numbers, not one", []),
        ("49 €", ["49"]),
        ("1,000.50 at 6:30", ["1", "000", "50", "100050", "6", "30"]),
        ("the 1980s", ["1980", "80"]),
        ("in 1988.", ["1988"]),
        ("b2b 3rd ٣ ½", ["2", "3"]),
    ],
)
def test_the_numbers_of_a_text(text, wanted):
    assert numbers_in(text) == set(wanted)


def open_after(written, *numbers):
    """The pieces that may come next."""
    scores = np.zeros(20, np.float32)
    DIGITS.restrict(scores, written, frozenset(numbers))
    return set(np.flatnonzero(scores == 0).tolist())


def test_without_numbers_every_piece_may_come():
    assert open_after([4, 5]) == set(range(20))


def test_a_number_begins_with_the_digits_of_the_source_alone():
    assert open_after([], "49") == set(range(20)) - {5, 9, 19}
    assert open_after([1, 14, 9, 2], "49") == set(range(20)) - {5, 9, 19}


@pytest.mark.parametrize("start", [[4], [14], [7, 4], [14, 9, 14]])
def test_a_number_that_has_begun_is_written_to_its_end(start):
    assert open_after(start, "49") == {9}


def test_a_number_that_is_whole_may_end_or_go_on_where_the_source_has_both():
    assert open_after([14, 9], "49") == set(range(20)) - {4, 9, 5, 19}
    assert open_after([14, 9], "49", "490") == set(range(20)) - {4, 9, 19}


def test_a_search_writes_the_number_it_should_not_have_missed():
    """The model would rather write 40."""
    scores = {2: 4, 4: 5, 5: 0, 9: 0}
    beams = Beams(
        [[7, 0]], Pieces(end=0, pad=1, special=3, digits=DIGITS), Search(beam=1),
        [frozenset(["49"])],
    )  # fmt: skip
    last = np.array([[2]])
    while len(beams.left):
        row = np.zeros((1, 20), np.float32)
        row[0, scores.get(int(last[0, 0]), 0)] = 5
        _, _, last = beams.advance(row)
    assert beams.best()[0][0].ids == (4, 9)


def test_digits_of_a_vocabulary(vocabulary):
    digits = vocabulary.digits()
    assert sorted(digits.plain.values()) == list("0123456789")
    for piece, digit in digits.spaced.items():
        assert vocabulary.decode([piece, piece]) == f"{digit} {digit}"


def test_a_number_that_has_begun_is_written_to_its_end_whatever_it_repeats():
    """``no_repeat`` forbids the second 0 of 400, but not within a number of the source."""
    numbers = frozenset(["400"])
    assert not DIGITS.within([], numbers)
    assert DIGITS.within([4], numbers)
    assert DIGITS.within([14, 5], numbers)
    assert not DIGITS.within([14, 5, 5], numbers)
    assert not DIGITS.within([14, 5], frozenset())
    how = Search(beam=1, max_length=5, no_repeat=1)
    pieces = Pieces(end=0, pad=1, special=3, digits=DIGITS)
    beams = Beams([[7, 0]], pieces, how, [numbers])
    last = []
    for _ in range(3):
        scores = np.zeros((1, 20), np.float32)
        scores[0, [4, 5]] = 9, 8
        last.append(int(beams.advance(scores)[2][0, 0]))
    assert last == [4, 5, 5]
