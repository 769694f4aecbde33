import pytest

from clearhead.model.pieces import learn_pieces

TEXTS = ["the cat didn't sit on l'animal in 1984", "the cat sat"] * 30


@pytest.fixture(scope="module")
def pieces():
    return learn_pieces(TEXTS, 330, ["<pad>", "</s>"])


def test_special_pieces_come_first_and_no_text_names_them(pieces):
    assert [pieces.token_to_id(name) for name in ("<pad>", "</s>")] == [0, 1]
    assert not {0, 1} & set(pieces.encode("a </s> <pad>").ids)


def test_no_piece_reaches_over_a_word_and_digits_stand_alone(pieces):
    cut = pieces.encode(" the cat 1984 didn't l'animal").tokens
    assert "Ġthe" in cut
    assert [piece for piece in cut if piece.strip("Ġ").isdigit()] == ["Ġ1", "9", "8", "4"]
    assert "'t" in cut
    assert not any("Ġ" in piece[1:] for piece in cut)


def test_any_text_comes_back(pieces):
    text = " Łódź 🙂 \u2028 naïve\t€"
    assert pieces.decode(pieces.encode(text).ids) == text
