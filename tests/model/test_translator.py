"""The translator: line in, line out, whatever the lines are."""

import math
import pickle
import re
import threading
import warnings

import pytest

import clearhead as ch
from clearhead.errors import ArgumentError, KindError, ModelError, TextError
from clearhead.model.scoring import log_probabilities
from clearhead.model.splitting import split_line
from clearhead.model.translated import LineWarning
from clearhead.model.translator import load_translator
from clearhead.model.weights import save_model

SENTENCES = ["The animal was tired.", "I have 3 cats", "Where do you live?", "1.", "it"]


def test_text_in_text_out_and_a_list_in_a_list_out(translator):
    one = translator.translate("I have 3 cats", max_length=20)
    assert isinstance(one, str)
    assert translator.translate(["I have 3 cats"], max_length=20) == [one]
    assert translator.translate([]) == []


def test_a_blank_line_gives_an_empty_line_and_lines_stay_in_step(translator):
    found = translator.translate(["I have cats", "", "it", " \t", "\u3000", "it"], max_length=9)
    assert len(found) == 6
    assert [bool(text) for text in found] == [True, False, True, False, False, True]
    assert found[2] == found[5]
    assert translator.translate("") == ""


def test_no_line_is_lost_around_one_that_is_too_long(translator):
    """Normal, 5,000 apostrophes, normal: three lines out, and a word of warning."""
    lines = ["I have 3 cats", "'" * 5_000, "it"]
    with pytest.warns(LineWarning, match=r"line 2: .* carried over"):
        found = translator.translate(lines, max_length=20)
    assert len(found) == 3
    assert found[0] == translator.translate(lines[0], max_length=20)


@pytest.mark.parametrize("word", ["z" * 50_000, "Łódź", "🙂"])
def test_a_word_that_cannot_be_spelt_is_carried_over_or_named(translator, word):
    """Whether the model carries it over is training; that it is never silent is not."""
    found = translator.translations([f"I have {word} cats"], max_length=20)[0]
    if word not in found.text:
        assert found.candidates[0].lost == (word,)
        assert any("is not carried over" in note and word[:30] in note for note in found.notes)
    else:
        assert not found.candidates[0].lost
    assert all(len(note) < 100 for note in found.notes)


def test_a_line_over_the_limit_is_translated_in_parts_and_says_so(translator):
    line = " ".join(["The animal was tired."] * 200)
    found = translator.translations([line], max_length=5, beam=1)[0]
    assert re.search(r"translated in [1-9]\d* parts", found.notes[0])
    assert found.text == found.candidates[0].text
    with pytest.warns(LineWarning, match="pieces are more than 512"):
        translator.translate(line, max_length=5, beam=1)


def test_a_translation_cut_off_before_its_end_is_marked(translator):
    found = translator.translations(SENTENCES, max_length=1)
    assert not all(translation.finished for translation in found)
    for translation in found:
        assert translation.finished == translation.candidates[0].finished
        assert not translation.notes  # the length was asked for
    for translation in translator.translations(SENTENCES):
        assert translation.finished != any("stops after" in note for note in translation.notes)


def test_lines_without_anything_to_say_warn_of_nothing(translator):
    finished = [t.source for t in translator.translations(SENTENCES) if t.finished]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        translator.translate(finished)


def test_the_n_best_come_as_candidates_in_place_of_each_text(translator):
    one = translator.translate("I have 3 cats", n_best=3, max_length=20)
    assert len(one) == 3
    assert one[0].text == translator.translate("I have 3 cats", beam=4, max_length=20)
    assert translator.translate(["I have 3 cats", ""], n_best=3, max_length=20) == [one, []]
    assert len({(candidate.text, candidate.finished) for candidate in one}) == 3


def test_the_n_best_of_a_line_in_parts_are_put_together(translator):
    line = " ".join(["The animal was tired."] * 200)
    found = translator.translations([line], max_length=4, n_best=3)[0]
    assert len(found.candidates) == 3
    scores = [candidate.score for candidate in found.candidates]
    assert scores == sorted(scores, reverse=True)
    parts = translator.translations(split_line(line, translator.vocabulary), max_length=4, n_best=3)
    assert found.text == " ".join(part.text for part in parts)
    assert scores[0] == pytest.approx(sum(part.candidates[0].score for part in parts), abs=1e-4)


def test_an_end_at_once_is_scored_without_a_piece(translator):
    vocabulary = translator.vocabulary
    source = translator.row(translator.encode("it"))
    ended = [[translator.language("fr"), vocabulary.end]]
    wanted = log_probabilities(translator.weights, translator.config, [source], ended, 0)[0]
    assert translator.score("it", "") == pytest.approx(sum(wanted), abs=1e-5)
    with pytest.raises(ArgumentError, match="batch: found 0; wanted a whole number"):
        translator.score("it", "", batch=0)


def test_log_probabilities_are_reproduced_by_reading_the_candidates_again(translator):
    vocabulary, language = translator.vocabulary, translator.vocabulary.language("fr")
    for text in SENTENCES:
        source = [*translator.encode(text).ids, vocabulary.end]
        for candidate in translator.translations([text], n_best=4, max_length=20)[0].candidates:
            tail = [vocabulary.end] if candidate.finished else []
            target = [language, *candidate.ids, *tail]
            again = log_probabilities(
                translator.weights, translator.config, [source], [target], vocabulary.pad
            )[0]
            assert candidate.log_probability == pytest.approx(sum(again), abs=1e-4)


def test_a_score_is_the_log_probability_of_the_text_and_its_end(translator):
    vocabulary = translator.vocabulary
    ids = vocabulary.encode("le chat").ids
    target = [vocabulary.language("de"), *ids, vocabulary.end]
    source = [*vocabulary.encode("the cat").ids, vocabulary.end]
    wanted = log_probabilities(
        translator.weights, translator.config, [source], [target], vocabulary.pad
    )[0]
    assert len(wanted) == len(ids) + 1
    assert translator.score("the cat", "le chat", to="de") == pytest.approx(sum(wanted), abs=1e-4)


def test_the_score_of_an_empty_translation_is_that_of_ending_at_once(translator):
    assert translator.score("I have cats", "") < 0
    assert math.isfinite(translator.score("", ""))


@pytest.mark.parametrize(
    "text",
    ["🙂", "🙂 🎉!", "...", "12:30", "1 234.50 49", "Łódź", "' " * 700 + "'", "https://a.org/b"],
)
def test_where_nothing_is_to_be_translated_the_text_is_kept(translator, text):
    found = translator.translations([text, "it"], max_length=9)
    assert found[0].text == text
    assert found[0].finished
    assert found[1].text == translator.translate("it", max_length=9)
    if len(text) < 100:
        score = found[0].candidates[0].log_probability
        assert translator.score(text, text) == pytest.approx(score, abs=1e-4)


def test_slots_are_scored(translator):
    assert math.isfinite(translator.score("to Łódź", "à Łódź"))


@pytest.mark.parametrize("text", ["a\x00b", "\x07", "\x1b[31m red", "🙂" * 9, "\ufeffhello"])
def test_any_character_is_a_character(translator, text):
    found = translator.translations([text], max_length=12, beam=2)[0]
    assert found.text


def test_white_space_counts_as_one_space(translator):
    a = translator.translate("I  have\t3\u2028cats ", max_length=20)
    assert a == translator.translate("I have 3 cats", max_length=20)
    assert "\n" not in a


def test_a_lone_surrogate_is_refused(translator):
    with pytest.raises(TextError, match="lone surrogate at character 2"):
        translator.translate(["fine", "ab\ud800"])
    with pytest.raises(TextError, match="lone surrogate"):
        translator.score("a", "\udfff")


@pytest.mark.parametrize("text", [7, None, b"bytes", [b"bytes"], ["fine", None], {"a": 1}])
def test_what_is_no_text_is_refused_by_its_type(translator, text):
    with pytest.raises(KindError, match=r"wanted str"):
        translator.translate(text)


def test_a_text_beside_what_is_none_is_named_as_it_was_given(translator):
    for pair, names in ((("x", None), "str and NoneType"), ((["x"], "y"), "list and str")):
        with pytest.raises(KindError, match=f"source and target: found {names}; wanted two texts"):
            translator.score(*pair)
    with pytest.raises(KindError, match="target: found NoneType; wanted str, or a list"):
        translator.score(["x"], None)
    with pytest.raises(KindError, match="text: found one text; wanted a list of them"):
        translator.translations("x")


@pytest.mark.parametrize("name", ["beam", "n_best"])
def test_a_beam_that_would_not_end_is_refused(translator, name):
    with pytest.raises(ArgumentError, match=f"{name}: found 1000000; wanted .* from 1 to 64"):
        translator.translations(["Hi."], **{name: 10**6})
    assert translator.translations(["it"], **{name: 64})


def test_languages_and_options_that_there_are_not_are_named(translator):
    with pytest.raises(ArgumentError, match="to: found 'es'; wanted fr or de"):
        translator.translate("it", "es")
    with pytest.raises(ArgumentError, match=r"options: .*beams"):
        translator.translate("it", beams=4)
    with pytest.raises(ArgumentError, match="found 1 and 2 texts"):
        translator.score(["a"], ["b", "c"])


def test_a_text_too_long_to_score_is_refused(translator):
    with pytest.raises(TextError, match=r"source: found .* pieces; wanted at most 512"):
        translator.score("a b " * 400, "c")
    with pytest.raises(TextError, match=r"target: found .* pieces"):
        translator.score("c", "a b " * 400)


def test_two_threads_translate_at_once(translator):
    wanted = translator.translate(SENTENCES, max_length=20)
    found = {}
    threads = [
        threading.Thread(
            target=lambda i=i: found.update({i: translator.translate(SENTENCES, max_length=20)})
        )
        for i in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [wanted] * 3


def test_a_folder_is_loaded_by_its_path(tmp_path, translator, config, vocabulary, weights):
    save_model(tmp_path, config, vocabulary, weights)
    loaded = load_translator(str(tmp_path))
    assert len(loaded.translate(SENTENCES, max_length=5)) == len(SENTENCES)
    assert ch.load_translator is load_translator
    with pytest.raises(ModelError, match="is no folder"):
        load_translator(tmp_path / "nowhere")


def test_a_translation_is_plain_data(translator):
    found = translator.translations(["it"], n_best=3, max_length=9)[0]
    assert pickle.loads(pickle.dumps(found)) == found
    assert len(found.candidates) == 3
    assert [c.score for c in found.candidates if c.finished] == sorted(
        (c.score for c in found.candidates if c.finished), reverse=True
    )
    assert repr(translator) == f"Translator(to=fr|de, {translator.config.vocabulary} pieces)"


@pytest.mark.parametrize("least", [1025, 10**20])
def test_a_least_length_that_no_translation_needs_is_refused(translator, least):
    with pytest.raises(ArgumentError, match=r"min_length: found .* from 0 to 1024"):
        translator.translate("the cat", min_length=least)


@pytest.mark.parametrize("count", [0, 65, "3", 2.0, True])
def test_a_count_of_alternatives_is_a_whole_number(translator, count):
    with pytest.raises(ArgumentError, match=r"count: found .* wanted a whole number from 1 to 64"):
        translator.alternatives("the cat", "le chat", 0, count=count)
