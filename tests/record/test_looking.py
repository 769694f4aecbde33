import numpy as np
import pytest

from clearhead.errors import ArgumentError, TextError
from clearhead.record.looking import look

# A random model does not carry odd words over, and says so.
carried_over = pytest.mark.filterwarnings("ignore::clearhead.model.translated.LineWarning")
SENTENCE = "The animal didn't cross the street because it was too tired."


def test_a_record_holds_the_sentence_its_translation_and_every_head(translator):
    record = look(SENTENCE, translator)
    assert record.sentence == SENTENCE
    assert record.translation == translator.translate(SENTENCE)
    assert record.language == "fr"
    assert record.words[2] == "didn't"
    assert record.guided == ((1, 0),)
    assert (record.layers, record.heads) == (2, 2)
    assert record.encoder.weights.shape == (2, 2, 12, 12)


def test_looking_changes_nothing_in_the_translation(translator):
    greedy = look(SENTENCE, translator, "de", beam=1)
    assert greedy.translation == translator.translate(SENTENCE, "de", beam=1)


@carried_over
def test_only_emoji_is_a_sentence_like_any_other(translator):
    record = look("🙂🎉 🙂", translator)
    assert record.words == ("🙂🎉", "🙂")
    assert len(record.links()) == 2 * 2 * 2


@carried_over
def test_odd_characters_are_read(translator):
    record = look("Łódź\x00 49 € 猫\u202e", translator)
    assert record.words == ("Łódź\x00", "49", "€", "猫\u202e")


def test_cross_links_lead_from_the_translation_to_the_sentence(translator):
    record = look(SENTENCE, translator, cross=True)
    sight = record.cross
    assert sight.queries.sentence == record.translation
    assert sight.keys is record.encoder.keys
    held = sight.observations[0].weights
    assert held.shape == (2, len(sight.queries.pieces), len(record.pieces))
    np.testing.assert_allclose(held.sum(-1), 1, atol=1e-5)
    assert {link["kind"] for link in record.to_dict()["cross"]} == {"cross"}
    assert look(SENTENCE, translator).cross is None


@pytest.mark.parametrize("language", ["es", "", "FR"])
def test_a_language_the_model_does_not_have_is_refused(translator, language):
    with pytest.raises(ArgumentError, match=f"found '{language}'; wanted one of fr, de"):
        look(SENTENCE, translator, language)


def test_an_empty_sentence_is_refused(translator):
    with pytest.raises(TextError):
        look(" ", translator)
