"""What could stand in the place of a word, and where each would lead."""

import numpy as np
import pytest

from clearhead.errors import ArgumentError, KindError, TextError
from clearhead.model.words import words

SOURCE = "The animal was too tired."
TRANSLATION = "L'animal était trop fatigué."


def spelt(text):
    return [text[a:b] for a, b in words(text)]


@pytest.fixture(scope="module")
def alternatives(translator):
    def found(word, **options):
        options = {"max_length": 30, "beam": 2, **options}
        return translator.alternatives(SOURCE, TRANSLATION, word, **options)

    return found


@pytest.mark.parametrize("word", range(5))
def test_each_keeps_the_words_before_it_and_leads_to_a_translation(alternatives, word):
    before, there = spelt(TRANSLATION)[:word], spelt(TRANSLATION)[word]
    found = alternatives(word, count=4)
    assert len(found) == 4
    for other in found:
        assert other.word != there
        wanted = [*before, other.word] if other.word else before
        assert spelt(other.translation)[: len(wanted)] == wanted
        assert 0 < other.probability < 1


def test_the_likeliest_comes_first_and_no_word_comes_twice(alternatives):
    found = alternatives(1, count=12)
    probabilities = [other.probability for other in found]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len({other.word for other in found}) == 12
    assert [other.word for other in alternatives(1, count=3)] == [o.word for o in found[:3]]


def test_scores_are_reproduced_by_reading_the_translations_again(translator, alternatives):
    """The end counts; where the translation ends before the place, too."""
    ended = [
        other
        for word in range(5)
        for other in alternatives(word, count=8, max_length=60)
        if other.finished
    ]
    assert any(not other.word for other in ended)
    for other in ended:
        again = translator.score(SOURCE, other.translation)
        assert other.log_probability == pytest.approx(again, abs=1e-4)


def test_the_beginning_as_the_model_wrote_it_leads_to_what_it_wrote(translator):
    """Its own word is not among the others, wherever the place is."""
    text = translator.translate(SOURCE, max_length=12)
    for word, there in enumerate(spelt(text)):
        found = translator.alternatives(SOURCE, text, word, count=2, max_length=12, beam=1)
        assert there not in [other.word for other in found]


def test_a_place_counts_from_the_end_too_and_as_any_whole_number(alternatives):
    assert (
        alternatives(-1, count=2) == alternatives(4, count=2) == alternatives(np.int64(4), count=2)
    )


def test_white_space_changes_nothing(translator):
    a = translator.alternatives(SOURCE, TRANSLATION, 2, count=2, max_length=12)
    spaced = f" {SOURCE}\n", TRANSLATION.replace(" ", "  ")
    assert translator.alternatives(*spaced, 2, count=2, max_length=12) == a


@pytest.mark.parametrize("word", [5, -6, 99])
def test_a_word_that_there_is_not_is_refused(alternatives, word):
    with pytest.raises(ArgumentError, match=f"word: found {word}; wanted an index from 0 to 4"):
        alternatives(word)


def test_what_cannot_be_meant_is_refused_by_its_name(translator, alternatives):
    with pytest.raises(KindError, match="word: found str; wanted its index"):
        alternatives("trop")
    with pytest.raises(ArgumentError, match="word: found 0; wanted a translation that has words"):
        translator.alternatives(SOURCE, " ", 0)
    with pytest.raises(ArgumentError, match="count: found 0"):
        alternatives(0, count=0)
    with pytest.raises(ArgumentError, match="to: found 'es'"):
        translator.alternatives(SOURCE, TRANSLATION, 0, "es")
    with pytest.raises(TextError, match=r"target: found .* pieces; wanted at most 512"):
        translator.alternatives(SOURCE, "il a " * 400, 0)
    with pytest.raises(KindError, match="translation 0: found int; wanted str"):
        translator.alternatives(SOURCE, 7, 0)
