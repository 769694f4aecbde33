"""Text to pieces and back, with no character lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.errors import ModelError, TextError
from clearhead.model.vocabulary import SLOTS, Vocabulary
from clearhead.model.words import LONGEST_WORD

ODD = [
    "🙂 ﷽ ︰ ŉ \u200d",
    "The train to Łódź costs 49 € 🙂.",
    "alpha\u2028beta\x0bgamma\x85delta\n",
    "nul \x00 and bell \x07",
    " two  spaces ",
    "</s><pad><fr><0><7>",
    "e\u0301 is not é",
    "\u202bעברית\u202c",
    "Ġ is a letter too",
    "",
    " ",
    "''''''''",
]


def back(vocabulary, text):
    encoded = vocabulary.encode(text)
    return vocabulary.decode(encoded.ids, encoded.slots)


@pytest.mark.parametrize("text", ODD)
def test_odd_text_comes_back_exactly_and_stays_so(vocabulary, text):
    once = back(vocabulary, text)
    assert once == text
    assert back(vocabulary, once) == text


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_comes_back_exactly(vocabulary, text):
    assert back(vocabulary, text) == text
    ids = vocabulary.encode_plain([text])[0]
    assert vocabulary.decode(ids) == text


@given(text=st.text(st.sampled_from("ab Ł€🙂'.\n"), max_size=40))
def test_spans_cover_every_character_in_order(vocabulary, text):
    encoded = vocabulary.encode(text)
    assert len(encoded.ids) == len(encoded.spans)
    covered = {i for start, end in encoded.spans for i in range(start, end)}
    assert covered == set(range(len(text)))
    assert [a for a, _ in encoded.spans] == sorted(a for a, _ in encoded.spans)


def test_no_text_names_a_special_piece(vocabulary):
    for text in ("</s>", "<pad>", "<fr>", "<0>"):
        assert all(piece >= vocabulary.special for piece in vocabulary.encode_plain([text])[0])
        assert back(vocabulary, text) == text


def test_words_that_cannot_be_spelt_become_slots_the_same_word_the_same_slot(vocabulary):
    encoded = vocabulary.encode("Łódź and Kraków and Łódź")
    assert encoded.slots == ["Łódź", "Kraków"]
    slots = [vocabulary.slots.index(p) for p in encoded.ids if p in vocabulary.slots]
    assert slots == [0, 1, 0]


def test_a_translation_is_cut_with_the_slots_of_its_source(vocabulary):
    encoded = vocabulary.encode("à Łódź, donc", slots=["Kraków", "Łódź"])
    assert vocabulary.slots[1] in encoded.ids
    assert vocabulary.decode(encoded.ids, encoded.slots) == "à Łódź, donc"


def test_after_eight_slots_words_are_spelt(vocabulary):
    text = " ".join(f"Ł{letter}" for letter in "abcdefghijk")
    encoded = vocabulary.encode(text)
    assert len(encoded.slots) == SLOTS
    assert vocabulary.decode(encoded.ids, encoded.slots) == text


def test_a_slot_without_a_word_leaves_nothing(vocabulary):
    assert vocabulary.decode([vocabulary.slots[5]], ["one"]) == ""


def test_a_run_too_long_for_a_word_is_carried_over_whole(vocabulary):
    run = "x" * 50_000
    encoded = vocabulary.encode(f"see {run} here")
    assert encoded.slots == [run]
    assert len(encoded.ids) < 20
    assert back(vocabulary, f"see {run} here") == f"see {run} here"
    assert vocabulary.encode("x" * LONGEST_WORD).slots == []


def test_addresses_are_carried_over_whole(vocabulary):
    encoded = vocabulary.encode("Write to me@example.org or see https://example.org/a?b=1!")
    assert encoded.slots == ["me@example.org", "https://example.org/a?b=1"]
    again = vocabulary.encode("Voir https://example.org/a?b=1", slots=encoded.slots)
    assert vocabulary.slots[1] in again.ids


def test_a_row_of_marks_is_carried_over_whole(vocabulary):
    encoded = vocabulary.encode("Part one" + "." * 40 + "9")
    assert encoded.slots == ["." * 40]
    assert len(vocabulary.encode("!" * 16).ids) > 10


@pytest.mark.parametrize("text", ["\ud800", "ok \udfff ok"])
def test_a_lone_surrogate_is_refused_and_its_place_named(vocabulary, text):
    with pytest.raises(TextError, match=r"lone surrogate at character \d.*read the input as UTF-8"):
        vocabulary.encode(text)


def test_blank_pieces_are_white_space_alone(vocabulary):
    blank = vocabulary.blank()
    assert blank
    assert all(not vocabulary.decode([piece, piece]).strip() for piece in blank)


def test_what_is_saved_is_read(vocabulary, tmp_path):
    path = tmp_path / "vocabulary.json"
    vocabulary.save(path)
    read = Vocabulary.read(path)
    assert read.size == vocabulary.size
    assert read.characters == vocabulary.characters
    for text in ODD:
        assert read.encode(text) == vocabulary.encode(text)
    assert read.language("de") == vocabulary.language("de")


def test_an_unknown_language_is_named(vocabulary):
    with pytest.raises(ModelError, match="language 'xx' is none of this model's"):
        vocabulary.language("xx")


@pytest.mark.parametrize(
    "held",
    [{}, [], 7, {"tokenizer": {}, "characters": ""}, {"tokenizer": None, "characters": ""}],
)
def test_a_file_that_holds_no_vocabulary_is_named(tmp_path, held):
    path = tmp_path / "vocabulary.json"
    path.write_text(json.dumps(held))
    with pytest.raises(ModelError, match=r"vocabulary\.json holds no vocabulary"):
        Vocabulary.read(path)


@pytest.mark.parametrize("characters", [{}, [], None, 7, "x", "", list("abc")])
def test_characters_that_training_cannot_have_seen_are_refused(vocabulary, tmp_path, characters):
    path = tmp_path / "vocabulary.json"
    vocabulary.save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "characters": characters}))
    with pytest.raises(ModelError, match=r"vocabulary\.json holds no vocabulary: its characters"):
        Vocabulary.read(path)


def test_a_vocabulary_without_the_special_pieces_is_refused(tmp_path, vocabulary):
    path = tmp_path / "vocabulary.json"
    vocabulary.save(path)
    path.write_text(path.read_text().replace("<pad>", "<pod>"))
    with pytest.raises(ModelError, match="no piece '<pad>'"):
        Vocabulary.read(path)
