"""Lines that are too long, cut where a reader would pause, with nothing lost."""

import re

import pytest

from clearhead.model.splitting import LONGEST, split_line

SENTENCE = "The animal didn't cross the street because it was too tired."


def letters(text):
    return re.sub(r"\s+", "", text)


def test_a_line_that_fits_is_left_alone(vocabulary):
    line = " ".join([SENTENCE] * 5)
    assert split_line(line, vocabulary) == [line]


@pytest.mark.parametrize(
    "line",
    [
        " ".join([SENTENCE] * 100),
        SENTENCE.rstrip(".") * 100,
        ", ".join(["The animal was tired"] * 300),
        "' " * 3000,
        "'" * 90 + " " + "'" * 90 + " " + "x!y?" * 2000,
        '"It was!" she said. "Was it?" ' * 100,
        " ".join(f"Łódź{i}" for i in range(700)),
        "猫が好きです。" * 500,
        "a\u2028b\x0bc\x00 " * 500,
    ],
)
def test_no_character_is_lost_and_every_part_fits(line, vocabulary):
    parts = split_line(line, vocabulary)
    assert letters("".join(parts)) == letters(line)
    assert all(len(vocabulary.encode(part).ids) < LONGEST for part in parts)
    assert all(part.strip() for part in parts)


def test_it_is_cut_between_sentences_where_there_are_any(vocabulary):
    parts = split_line(" ".join([SENTENCE] * 100), vocabulary)
    assert len(parts) > 5
    assert all(part.startswith("The animal") and part.endswith("tired.") for part in parts)


def test_a_closing_quote_stays_with_its_sentence(vocabulary):
    parts = split_line('"It was!" she said. "Was it?" ' * 100, vocabulary)
    assert all(part.count('"') % 2 == 0 for part in parts)


def test_many_words_that_cannot_be_spelt_get_parts_of_their_own(vocabulary):
    """A part has eight slots at most, so that each word can be carried over."""
    parts = split_line(" ".join(f"Łódź{i}" for i in range(700)), vocabulary)
    assert len(parts) > 80
    for part in parts:
        encoded = vocabulary.encode(part)
        assert len(encoded.slots) <= 8
        assert sum(p in vocabulary.slots for p in encoded.ids) == len(part.split())
