"""The model that comes with the package: what only trained weights can show."""

import numpy as np
import pytest

from clearhead.model.scoring import log_probabilities
from clearhead.model.translator import load_translator

SENTENCES = [
    "I like cats.",
    "1.",
    "Where do you live?",
    "The animal didn't cross the street because it was too tired.",
    "He said that he would come back tomorrow morning.",
    "Thank you.",
    "Yes",
    "She has two brothers and a sister who live in the city.",
    '"Is it raining?" "No, it isn\'t."',
    "We bought bread, milk, cheese and three bottles of water.",
]


@pytest.fixture(scope="module")
def bundled():
    return load_translator()


@pytest.mark.parametrize("to", ["fr", "de"])
@pytest.mark.parametrize("beam", [1, 4])
def test_names_numbers_and_signs_survive(bundled, to, beam):
    found = bundled.translate("The train to Łódź costs 49 € 🙂.", to, beam=beam)
    for kept in ("Łódź", "49", "€", "🙂"):
        assert kept in found


def test_plain_sentences_come_out_as_anyone_would_say_them(bundled):
    assert bundled.translate("I like cats.") == "J'aime les chats."
    assert bundled.translate("I like cats.", "de") == "Ich mag Katzen."


@pytest.mark.parametrize("beam", [1, 4])
def test_fifty_lines_give_the_same_text_and_score_in_any_batch(bundled, beam):
    lines = [f"{a} {b}" for a, b in zip(SENTENCES * 5, np.repeat(SENTENCES, 5), strict=True)]
    wanted = bundled.translations(lines, beam=beam, batch=50)
    order = np.random.default_rng(0).permutation(50)
    mixed = bundled.translations([lines[i] for i in order], beam=beam, batch=7)
    alone = [bundled.translations([line], beam=beam)[0] for line in lines[:4]]
    for one, other in [*zip((mixed[i] for i in np.argsort(order)), wanted, strict=True),
                       *zip(alone, wanted[:4], strict=True)]:  # fmt: skip
        assert one.text == other.text
        a, b = one.candidates[0], other.candidates[0]
        assert a.log_probability == pytest.approx(b.log_probability, abs=1e-4)


def test_every_score_is_reproduced_by_reading_again(bundled):
    vocabulary = bundled.vocabulary
    found = bundled.translations(SENTENCES, "de", n_best=4)
    sources, targets, wanted = [], [], []
    for text, translation in zip(SENTENCES, found, strict=True):
        for candidate in translation.candidates:
            tail = [vocabulary.end] if candidate.finished else []
            sources.append([*bundled.encode(text).ids, vocabulary.source.end])
            targets.append([vocabulary.language("de"), *candidate.ids, *tail])
            wanted.append(candidate.log_probability)
    again = log_probabilities(bundled.weights, bundled.config, sources, targets, vocabulary.pad)
    assert [sum(row) for row in again] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("to", ["fr", "de"])
def test_the_score_of_a_candidate_is_its_log_probability(bundled, to):
    """Of every one, whatever pieces the search had spelt it with."""
    found = bundled.translate(SENTENCES, to, n_best=4)
    pairs = [(text, c) for text, few in zip(SENTENCES, found, strict=True) for c in few]
    pairs = [(text, candidate) for text, candidate in pairs if candidate.finished]
    again = bundled.score([text for text, _ in pairs], [c.text for _, c in pairs], to)
    assert [c.log_probability for _, c in pairs] == pytest.approx(again, abs=1e-4)


def test_text_does_not_vanish_as_the_beam_grows(bundled):
    sentences = SENTENCES[:5]
    found = {beam: bundled.translate(sentences, beam=beam) for beam in (1, 16, 64)}
    assert all(all(texts) for texts in found.values())
    lengths = {beam: sum(map(len, texts)) for beam, texts in found.items()}
    assert min(lengths.values()) > 0.7 * lengths[1]


def test_every_sentence_ends_by_itself(bundled):
    for to in ("fr", "de"):
        assert all(translation.finished for translation in bundled.translations(SENTENCES, to))
