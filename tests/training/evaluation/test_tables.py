"""Tables: columns by name, rows by value, samples spread evenly."""

import pytest

from clearhead.errors import ArgumentError
from clearhead.training.evaluation.tables import read_table, sample, sample_pairs, where

ROWS = [{"en": "a", "core": "1"}, {"en": "b", "core": "0"}, {"en": "c", "core": "1"}]


def test_a_table_has_a_value_for_every_column(tmp_path):
    (tmp_path / "t.tsv").write_text("en\tfr\na\u2028b\tc\n\td\n")
    rows = read_table(tmp_path / "t.tsv")
    assert rows == [{"en": "a\u2028b", "fr": "c"}, {"en": "", "fr": "d"}]
    (tmp_path / "t.tsv").write_text("en\tfr\na\tb\tc\n")
    with pytest.raises(ArgumentError, match="line 2: found 3 columns; wanted 2"):
        read_table(tmp_path / "t.tsv")
    (tmp_path / "t.tsv").write_text("en\tfr\n")
    with pytest.raises(ArgumentError, match="names columns and has no rows"):
        read_table(tmp_path / "t.tsv")


def test_a_mark_of_byte_order_and_line_ends_of_two_characters_are_no_text(tmp_path):
    (tmp_path / "t.tsv").write_bytes("\ufeffen\tfr\r\na\tb\r\n".encode())
    assert read_table(tmp_path / "t.tsv") == [{"en": "a", "fr": "b"}]


def test_rows_are_chosen_by_what_a_column_says():
    assert [row["en"] for row in where(ROWS, [("core", "1")])] == ["a", "c"]
    assert [row["en"] for row in where(ROWS, [("core", "1"), ("en", "c")])] == ["c"]
    assert where([], [("core", "1")]) == []


def test_a_column_or_a_value_that_is_not_there_is_refused():
    with pytest.raises(
        ArgumentError, match=r"t\.tsv has no column 'kern'; its columns are en, core"
    ):
        where(ROWS, [("kern", "1")], "t.tsv")
    with pytest.raises(
        ArgumentError, match=r"no row of t\.tsv has 'yes' in 'core'; found '0', '1'"
    ):
        where(ROWS, [("core", "yes")], "t.tsv")


def test_a_sample_is_spread_evenly():
    assert sample(list("abc"), 5) == ["a", "b", "c"]
    assert sample(list("abc"), None) == ["a", "b", "c"]
    assert sample(range(100), 4) == [0, 25, 50, 75]


def test_pairs_stay_whole():
    rows = [{"pair": name, "n": n} for name in "wxyz" for n in "12"]
    kept = sample_pairs(rows, 5)
    assert [row["pair"] + row["n"] for row in kept] == ["w1", "w2", "y1", "y2"]
    assert len(sample_pairs(rows, 1)) == 2
    assert sample_pairs(ROWS, 1) == ROWS[:1]
