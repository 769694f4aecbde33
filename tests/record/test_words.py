import numpy as np
import pytest

from clearhead.errors import ArgumentError, KindError
from clearhead.record.words import Piece, Words


def words(text, *spans):
    return Words(text, tuple(Piece(f"p{i}", span) for i, span in enumerate(spans)))


@pytest.fixture
def said():
    """Four words of six pieces, and an end mark."""
    spans = [(0, 3), (3, 8), (8, 10), (10, 13), (13, 14), (14, 15), None]
    return words("The didn't it!?", *spans)


def test_a_word_is_what_stands_between_spaces_its_punctuation_apart(said):
    assert said.names == ("The", "didn't", "it", "!", "?")
    assert said.special == ("p6",)
    assert [said.of(i) for i in range(5)] == [[0], [1, 2], [3], [4], [5]]


def test_weights_are_the_sum_over_keys_and_the_mean_over_queries(said, rng):
    p = rng.dirichlet(np.ones(7), (2, 7))
    joined = said.join(p)
    assert joined.shape == (2, 5, 5)
    np.testing.assert_allclose(joined[:, 0, 1], p[:, 0, 1] + p[:, 0, 2])
    np.testing.assert_allclose(joined[:, 1, 0], (p[:, 1, 0] + p[:, 2, 0]) / 2)
    own = p[:, 1:3, 1:3].sum((1, 2)) / 2
    np.testing.assert_allclose(joined[:, 1, 1], own)


def test_what_special_pieces_took_is_not_shared_out(said, rng):
    p = rng.dirichlet(np.ones(7), 7)
    np.testing.assert_allclose(said.join(p)[0].sum(), 1 - p[0, 6])


def test_a_piece_across_two_words_counts_by_its_characters():
    said = words("ab c", (0, 4))
    np.testing.assert_allclose(said.parts, [[2 / 3], [1 / 3]])
    np.testing.assert_allclose(said.join(np.ones((1, 1))), [[2 / 3, 1 / 3]] * 2)


def test_a_word_without_pieces_looks_at_nothing():
    said = words("a b", (0, 1))
    np.testing.assert_allclose(said.join(np.ones((1, 1))), [[1, 0], [0, 0]])


def test_labels_of_byte_pieces_come_from_the_sentence():
    """A character of four byte pieces is one word with one readable name, never U+FFFD."""
    said = words("🙂 猫", *[(0, 1)] * 4, *[(1, 3)] * 3)
    assert said.names == ("🙂", "猫")
    assert said.of(0) == [0, 1, 2, 3]
    np.testing.assert_allclose(said.join(np.full((7, 7), 1 / 7)), [[4 / 7, 3 / 7]] * 2)


def test_weights_of_other_pieces_are_refused(said):
    with pytest.raises(ArgumentError, match="found 3 rows and 7 columns; wanted one for each"):
        said.join(np.ones((3, 7)))


@pytest.mark.parametrize(("text", "pieces"), [("a", 1), ("a b", 2), ("", 1)])
def test_no_axis_is_lost_at_size_one(text, pieces):
    said = words(text, *[(2 * i, 2 * i + 1) if text else None for i in range(pieces)])
    assert said.join(np.ones((3, 1, pieces, pieces))).shape == (3, 1, len(said), len(said))


def test_finding_a_word():
    said = words("It saw it: it ran", (0, 17))
    assert said.names == ("It", "saw", "it", ":", "it", "ran")
    assert said.find("it") == [2, 4]  # case counts where both are there
    assert said.find("IT") == [0, 2, 4]
    assert said.find("it:2") == [4]
    assert said.find("saw:1") == [1]
    assert said.find(":") == [3]
    assert said.find(5) == [5]
    assert said.find(np.int64(1)) == [1]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("dog", "found 'dog'; the sentence has The animal it . and"),
        ("it:3", "found 'it:3'; the sentence has 'it' twice"),
        ("animal:2", "the sentence has 'animal' once"),
        ("it:0", "the sentence has 'it' twice"),
        (9, "found index 9; wanted 0 … 6"),
        (-1, "found index -1"),
    ],
)
def test_a_word_that_is_not_there_is_named_beside_those_that_are(word, message):
    with pytest.raises(ArgumentError, match=message.replace(".", r"\.")):
        words("The animal it . and it .", (0, 1)).find(word)


def test_an_index_is_a_whole_number():
    with pytest.raises(KindError, match="found True"):
        words("a b", (0, 1)).find(True)


def test_the_list_of_words_in_a_message_stays_short():
    said = words(" ".join(f"w{i}" for i in range(500)), (0, 1))
    with pytest.raises(ArgumentError, match="w39 … and 460 more"):
        said.find("dog")
