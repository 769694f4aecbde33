"""Text from files: columns by place or by name, files side by side, and what is refused."""

import gzip

import pytest

from clearhead.errors import ArgumentError
from clearhead.training.files import read_dev, read_lines, read_pairs, with_language


def test_only_a_line_feed_ends_a_line(tmp_path):
    text = "a\u2028b\tc\u0085d\ne\r\tf\x0bg\x0c\x1c\n"
    (tmp_path / "x.tsv").write_bytes(text.encode())
    assert read_lines(tmp_path / "x.tsv") == ["a\u2028b\tc\u0085d", "e\r\tf\x0bg\x0c\x1c"]


def test_gzip_and_plain_files_read_alike(tmp_path):
    (tmp_path / "x.tsv").write_text("a\tb\nc\td\tmore\n")
    (tmp_path / "x.tsv.gz").write_bytes(gzip.compress(b"a\tb\nc\td\tmore\n"))
    assert read_pairs(tmp_path / "x.tsv") == [("a", "b"), ("c", "d")]
    assert read_pairs(tmp_path / "x.tsv.gz") == [("a", "b"), ("c", "d")]


def test_an_empty_file_has_no_lines_and_the_last_needs_no_end(tmp_path):
    (tmp_path / "x").write_text("")
    assert read_lines(tmp_path / "x") == []
    (tmp_path / "x").write_text("a\n\nb")
    assert read_lines(tmp_path / "x") == ["a", "", "b"]


def test_a_line_without_a_tab_is_named(tmp_path):
    (tmp_path / "x.tsv").write_text("a\tb\nno tab\n")
    with pytest.raises(ArgumentError, match=r"x\.tsv, line 2: found 1 column"):
        read_pairs(tmp_path / "x.tsv")


@pytest.mark.parametrize("content", [b"not gzip", gzip.compress(b"a\tb\n" * 99)[:-12], b"\x1f\x8b"])
def test_a_damaged_archive_is_refused(tmp_path, content):
    (tmp_path / "x.tsv.gz").write_bytes(content)
    with pytest.raises(ArgumentError, match="cannot be read as UTF-8 text"):
        read_lines(tmp_path / "x.tsv.gz")


def test_bytes_that_are_no_utf8_and_missing_files_are_refused(tmp_path):
    (tmp_path / "x").write_bytes(b"\xff\xfe")
    with pytest.raises(ArgumentError, match="cannot be read as UTF-8 text"):
        read_lines(tmp_path / "x")
    with pytest.raises(ArgumentError, match="is not there"):
        read_lines(tmp_path / "y")


def test_files_keep_their_language(tmp_path):
    for tag in ("fr", "de"):
        (tmp_path / tag).write_text(f"one\t{tag} one\n")
    files = {tag: [str(tmp_path / tag)] for tag in ("fr", "de")}
    assert list(with_language(files)) == [("one", "fr one", "fr"), ("one", "de one", "de")]


def test_pairs_with_an_empty_side_are_left_out(tmp_path):
    (tmp_path / "x.tsv").write_text("a\tb\n\tb\na\t \n")
    assert list(with_language({"fr": [str(tmp_path / "x.tsv")]})) == [("a", "b", "fr")]


# Columns by name, and files side by side


@pytest.fixture
def table(tmp_path):
    text = "\ufeffen\tfr\tde\r\nA dog.\tUn chien.\tEin Hund.\r\n"
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return str(tmp_path / "t.tsv.gz")


@pytest.mark.parametrize(
    ("columns", "pair"),
    [("en,de", ("A dog.", "Ein Hund.")), ("fr,en", ("Un chien.", "A dog."))],
)
def test_columns_are_chosen_by_name(table, columns, pair):
    assert read_pairs(f"{table}#{columns}") == [pair]
    assert read_dev(f"{table}#{columns}", "pt") == [pair]


def test_a_dev_file_without_names_has_english_and_the_language(table):
    assert read_dev(table, "fr") == [("A dog.", "Un chien.")]
    with pytest.raises(ArgumentError, match="found the columns en, fr, de in its first line"):
        read_dev(table, "pt")


@pytest.mark.parametrize("columns", ["en", "en,", "en,fr,de", ""])
def test_other_than_two_columns_are_refused(table, columns):
    with pytest.raises(ArgumentError, match="wanted two names after #"):
        read_pairs(f"{table}#{columns}")


def test_a_column_that_is_not_there_is_named(table):
    with pytest.raises(ArgumentError, match="wanted es too: name two of them"):
        read_pairs(f"{table}#en,es")


def test_a_row_with_other_columns_than_the_header_is_named(tmp_path):
    (tmp_path / "t.tsv").write_text("en\tfr\na\tb\na\tb\tc\n")
    with pytest.raises(ArgumentError, match=r"t\.tsv, line 3: found 3 columns; wanted 2"):
        read_pairs(f"{tmp_path / 't.tsv'}#en,fr")


def test_a_file_with_a_mark_in_its_own_name_is_that_file(tmp_path):
    (tmp_path / "a#b,c").write_text("x\ty\n")
    assert read_pairs(str(tmp_path / "a#b,c")) == [("x", "y")]


def test_two_files_side_by_side(tmp_path):
    (tmp_path / "t.en").write_text("A dog.\nA cat.\n")
    (tmp_path / "t.fr").write_text("Un chien.\nUn chat.\n")
    places = [str(tmp_path / "t.en"), str(tmp_path / "t.fr")]
    wanted = [("A dog.", "Un chien."), ("A cat.", "Un chat.")]
    assert read_pairs(places) == read_dev(places, "fr") == wanted
    (tmp_path / "t.fr").write_text("Un chien.\n")
    with pytest.raises(ArgumentError, match=r"t\.en has 2 lines and .*t\.fr has 1"):
        read_pairs(places)


def test_a_dev_set_without_pairs_is_refused(tmp_path):
    (tmp_path / "t.tsv").write_text("en\tfr\n")
    with pytest.raises(ArgumentError, match="holds no pairs"):
        read_dev(str(tmp_path / "t.tsv"), "fr")
