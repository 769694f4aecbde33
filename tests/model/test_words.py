"""Words as people see them."""

import pytest

from clearhead.model.words import LONGEST_WORD, all_words, is_no_word, words, words_and_runs


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("didn't", ["didn't"]),
        ("L’animal, c'est moi.", ["L’animal", ",", "c'est", "moi", "."]),
        ("twenty-one - two", ["twenty-one", "-", "two"]),
        ("'quoted'", ["'", "quoted", "'"]),
        ("« oui »", ["«", "oui", "»"]),
        ("it.", ["it", "."]),
        ("49 €", ["49", "€"]),
        ("🙂🙂", ["🙂🙂"]),
        ("a\u2028b\x0bc", ["a", "b", "c"]),
        ("", []),
        (" \t ", []),
        ("…", ["…"]),
    ],
)
def test_words_stand_between_spaces_their_punctuation_apart(text, wanted):
    assert [text[a:b] for a, b in words(text)] == wanted


def test_a_run_too_long_for_words_counts_as_one():
    run = "a.b-" * (LONGEST_WORD // 4) + "c"
    text = f"see {run}, isn't it?"
    found = [text[a:b] for a, b in words_and_runs(text)]
    assert found == ["see", run + ",", "isn't", "it", "?"]
    short = run[:LONGEST_WORD]
    assert words_and_runs(short) == words(short)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Write to me@example.org.", ["Write", "to", "me@example.org", "."]),
        ("(see https://a.org/b_(c)?d=1#e)", ["(", "see", "https://a.org/b_(c)?d=1#e", ")"]),
        ("www.example.org/x, then", ["www.example.org/x", ",", "then"]),
        ("at 5 @ home", ["at", "5", "@", "home"]),
        ("either//or", ["either", "/", "/", "or"]),
        ("Part 1" + "." * 17 + "9", ["Part", "1", "." * 17, "9"]),
        ("!?" * 9 + "www.example.org/" + "_" * 17, ["!?" * 9, "www.example.org/" + "_" * 17]),
        ("a" + "-" * 20 + "b" + "=" * 20, ["a", "-" * 20, "b", "=" * 20]),
    ],
)
def test_an_address_and_a_row_of_marks_count_as_one(text, wanted):
    found = [text[a:b] for a, b in words_and_runs(text)]
    assert found == wanted
    assert [word for word in found if is_no_word(word)] == [w for w in wanted if len(w) > 8]
    assert all_words(text) is not any(len(word) > 8 for word in wanted)


def test_sixteen_marks_in_a_row_are_marks():
    text = "so" + "." * 16
    assert all_words(text)
    assert words_and_runs(text) == words(text)
