"""Which words of a translation are known to belong to a source word."""

from clearhead.model.words import words
from clearhead.training.evaluation.known_words import copies, nouns


def copied(source, target):
    return copies(source, target, words(source), words(target))


def test_numbers_names_and_long_words_are_copies():
    assert copied("We met Tom at 7.", "Tom 7.") == [(0, 2), (1, 4)]
    assert copied("a situation", "une situation") == [(1, 1)]


def test_short_words_first_words_and_repeated_ones_are_none():
    assert copied("Son mon", "Son mon") == []  # "Son" begins the sentence, "mon" is short
    assert copied("He saw Tom and Tom", "Tom") == []
    assert copied("He saw Tom", "Tom, Tom") == []


def named(source, target, noun, translation):
    return nouns(source, target, words(source), words(target), noun, translation)


def test_a_noun_belongs_to_its_translation():
    assert named("The cat's Street.", "La rue du chat.", "street", "rue") == [(1, 2)]
    assert named("The cat's street.", "L'animal du chat.", "cat", "animal") == [(0, 1)]
    assert named("The streets.", "La rue.", "street", "rue") == []
    assert named("The cat, a cat.", "Le chat.", "cat", "chat") == []
    assert named("The cat.", "Le chat.", "cat", "") == []
