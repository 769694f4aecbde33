"""Pieces that carry on the word that they stand after."""

import pytest

from clearhead.model.word_pieces import carrying_on
from clearhead.model.words import words


def test_a_piece_carries_on_where_it_leaves_the_number_of_words_as_it_is(vocabulary):
    """Every piece that is whole characters, after a letter and before one."""
    carries = carrying_on(vocabulary)
    for piece in range(vocabulary.special, vocabulary.size):
        text = vocabulary.decode([vocabulary.encode("t").ids[-1], piece])
        if "\ufffd" not in text:
            assert carries[piece] == (len(words(f"{text[:2]}t")) == 1), text


@pytest.mark.parametrize("character", ["é", "ß", "…", "“", "猫"])
def test_so_do_the_bytes_within_a_character(vocabulary, character):
    ids = vocabulary.encode(f"t{character}", slots=()).ids[1:]
    assert carrying_on(vocabulary)[ids[1:]].all()


def test_special_pieces_carry_nothing_on(vocabulary):
    assert not carrying_on(vocabulary)[: vocabulary.special].any()
