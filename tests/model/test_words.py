"""Words as people see them."""

import pytest

from clearhead.model.words import LONGEST_WORD, words, words_and_runs


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
