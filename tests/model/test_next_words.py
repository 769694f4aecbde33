"""The likeliest next words, against the probabilities of their pieces."""

from itertools import islice

import numpy as np
import pytest

from clearhead.model.candidates import log_sum_exp
from clearhead.model.hypotheses import Search
from clearhead.model.next_words import next_words
from clearhead.model.translation import decode, encode, logits
from clearhead.model.words import JOINERS, is_mark, words

SOURCE = "I have 3 cats in a small house."
BEGINNINGS = ["", "le", "le chat, ", "l'animal n'a", "(", "il a 3"]


@pytest.fixture
def found(translator):
    def found(beginning, source=SOURCE, count=12, **options):
        encoded = translator.encode(source)
        prefix = translator.target(beginning, encoded)
        language = translator.language("fr")
        how = Search(**options)
        likely = next_words(translator, source, encoded, prefix, language, how)
        return prefix, list(islice(likely, count))

    return found


def log_softmax(translator, ids):
    """Of the piece after ``ids``, by one plain pass."""
    source = np.array([translator.row(translator.encode(SOURCE))])
    memory = encode(translator.weights, translator.config, source)
    target = np.array([[translator.language("fr"), *ids]])
    hidden = decode(translator.weights, translator.config, target, memory)
    scores = logits(translator.weights, hidden[:, -1]).astype(float)
    return (scores - log_sum_exp(scores)[:, None])[0]


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_words_come_in_order_none_twice_and_share_one_probability(found, beginning):
    _, likely = found(beginning)
    assert len(likely) > 3
    probabilities = [each.probability for each in likely]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 < sum(probabilities) <= 1 + 1e-6
    assert len({each.word for each in likely}) == len(likely)


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_each_is_one_word_after_the_beginning(translator, found, beginning):
    prefix, likely = found(beginning)
    before = translator.vocabulary.decode(prefix)
    count = len(words(before))
    for each in likely:
        text = translator.vocabulary.decode([*prefix, *each.ids])
        spans = words(text)
        if each.word:
            assert text.startswith(before)
            assert [text[a:b] for a, b in spans[count:]] == [each.word]


@pytest.mark.parametrize("beginning", ["", "le chat, ", "l'animal n'a"])
def test_the_probability_is_that_of_the_pieces_and_of_nothing_that_carries_on(
    translator, found, beginning
):
    prefix, likely = found(beginning)
    for each in likely:
        wanted, ids = 0.0, list(prefix)
        for piece in each.ids or (translator.vocabulary.end,):
            wanted += log_softmax(translator, ids)[piece]
            ids.append(piece)
        if each.word and (not is_mark(each.word[0]) or each.word in JOINERS):
            on = np.exp(log_softmax(translator, ids)[translator.carrying_on]).sum()
            wanted += np.log1p(-on)
        assert np.log(each.probability) == pytest.approx(wanted, abs=1e-4)


def test_no_other_number_comes_than_those_of_the_source(found):
    _, likely = found("il a", count=40)
    digits = {each.word for each in likely if any(c.isdigit() for c in each.word)}
    assert all("3" in word and not set(word) & set("0124567889") for word in digits)


def test_the_end_is_a_word_where_it_may_come(found):
    _, likely = found("le chat", count=60)
    assert "" in {each.word for each in likely}
    for beginning, options in (("", {}), ("le chat", {"min_length": 50})):
        assert "" not in {each.word for each in found(beginning, count=60, **options)[1]}
