import io
from dataclasses import replace

import numpy as np
import pytest

from clearhead.core.observation import Observation
from clearhead.errors import ArgumentError
from clearhead.record.census import telling_links
from clearhead.record.choice import Choice
from clearhead.record.looking import look
from clearhead.record.record import Record
from clearhead.record.sight import Sight
from clearhead.record.words import Piece, Words
from clearhead.view.parts import console_for, printed_width
from clearhead.view.terminal import show, special_name

# A random model does not carry odd words over, and says so.
carried_over = pytest.mark.filterwarnings("ignore::clearhead.model.translated.LineWarning")
SENTENCE = "The animal didn't cross the street because it was too tired."


def shown(record, width=80, encoding="utf-8", **choice):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="replace")
    show(record, Choice(**choice), console=console_for(file, width))
    file.flush()
    return file.buffer.getvalue().decode(encoding)


@pytest.fixture(scope="module")
def record(translator):
    return look(SENTENCE, translator)


@pytest.mark.parametrize("width", [40, 48, 57, 58, 80])
def test_lines_fit_the_terminal_down_to_40_columns(translator, width):
    record = look(SENTENCE, translator, cross=True)
    for text in (shown(record, width), shown(record, width, words=("it", "because"))):
        assert max(printed_width(line) for line in text.splitlines()) <= width
        assert "guided" in text


def rows(text):
    """The lines of the table: a word, what it looks at, a bar, per cent, layer, head, end mark."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:3] == ["word", "looks", "at"])
    end = next(i for i in range(start, len(lines)) if not lines[i].strip())
    return [line.split() for line in lines[start + 1 : end]]


def test_every_word_is_shown_with_its_most_telling_link(record):
    found = rows(shown(record))
    assert [row[0] for row in found] == list(record.words)
    for i, row in enumerate(found):
        best = telling_links(record, Choice(i))[0]
        assert row[1] == best["to"]
        assert str(best["layer"]) in row
        assert str(best["head"]) in row


def test_sentence_translation_and_language_stand_on_top(record):
    text = shown(record)
    assert text.index(SENTENCE) < text.index(record.translation) < text.index("French")


def test_a_guided_head_is_named_and_that_no_other_was(record, translator):
    text = shown(record)
    assert next(row for row in rows(text) if row[0] == "it")[-1] == "guided"
    assert "training pulled layer 1 head 0 to what “it” stands for, no other." in text
    unguided = Record(record.encoder)
    assert "guided" not in shown(unguided)


def test_one_word_is_shown_in_its_most_telling_heads(record):
    text = shown(record, words=["it"])
    assert "“it” looks, in its most telling 3 of 4 heads:" in text
    assert text.count(" · head ") == 3
    assert text.index("layer 1 · head 0  guided") < text.index("layer 0")
    for line in text.splitlines():
        if "itself" in line:
            assert "end mark" in line
            assert "all else" in line


def test_all_of_the_mass_is_told(record):
    """What is shown, set aside and left out adds up to the whole."""
    text = shown(record, words=["it"], layer=0, head=1)
    row = record.encoder.weights[0, 1, 7]
    aside = record.encoder.special[0, 1, 7] + record.encoder.blank[0, 1, 7]
    assert row.sum() + aside == pytest.approx(1)
    numbers = [int(word.strip("<>")) for word in text.split() if word.strip("<>").isdigit()]
    numbers = numbers[2:]  # layer and head
    assert sum(numbers) == pytest.approx(100, abs=4)


def test_several_words_and_the_second_of_two(translator):
    record = look("It saw it.", translator)
    text = shown(record, words=["saw", "it:1", "saw"])
    assert text.count("looks") == 2
    assert "word 3 of 4" not in text  # "It" and "it" are different words as written
    again = shown(look("it saw it.", translator), words=["it:2"])
    assert "“it”, word 3 of 4, looks" in again


def test_layer_and_head_narrow(record):
    assert "in layer 0 head 1: its strongest link" in shown(record, layer=0, head=1)
    assert all(row[-3 if row[-1] == "guided" else -4] for row in rows(shown(record, layer=1)))
    with pytest.raises(ArgumentError, match="head: found 5"):
        shown(record, head=5)


@pytest.mark.parametrize("width", [60, 72, 80, 200])
@pytest.mark.parametrize("words", [None, ["it"]])
def test_lines_fit_the_terminal(record, width, words):
    for line in shown(record, width, words=words).splitlines():
        assert printed_width(line) <= width


def test_the_whole_of_a_short_sentence_fits_a_small_terminal(record):
    assert len(shown(record).splitlines()) <= 24


def test_ascii_is_enough(record):
    text = shown(record, encoding="ascii")
    assert "=" in text
    assert "?" not in text.split("weight")[1].split("The rest")[0]


@carried_over
def test_a_word_alone_has_nothing_to_look_at(translator):
    text = shown(look("🙂", translator))
    assert "There is no other word to look at." in text
    assert "There is no other word" in shown(look("🙂", translator), words=[0])


@carried_over
def test_words_from_outside_are_made_safe(translator):
    text = shown(look("[bold]x \x1b[31mred \u202eevil", translator))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]" in text


def test_a_query_that_may_look_at_nothing_is_never_drawn():
    weights = np.zeros((1, 1, 3, 3))
    weights[0, 0, 1] = [1, 0, 0]
    pieces = tuple(Piece(w, (2 * i, 2 * i + 1)) for i, w in enumerate("abc"))
    said = Words("a b c", pieces)
    seen = Observation(visible=weights[0].any(-1), weights=weights[0])
    found = rows(shown(Record(Sight("encoder", said, said, (seen,)))))
    assert [row[0] for row in found] == ["b"]


def test_special_pieces_have_a_name(record):
    assert special_name(record) == "end mark"
    pieces = (Piece("[CLS]"), Piece("a", (0, 1)), Piece("[SEP]"))
    said = Words("a", pieces)
    assert special_name(Record(Sight("encoder", said, said, ()))) == "special pieces"


def test_a_sentence_of_the_greatest_length_stays_readable(rng):
    """512 words, 4 layers of 6 heads: a line for each word, and not for each weight."""
    text = " ".join(["word"] * 511)
    pieces = tuple(Piece("word", span) for span in Words(text, ()).spans)
    said = Words(text, (*pieces, Piece("</s>")))
    weights = rng.random((4, 6, 512, 512), np.float32)
    weights /= weights.sum(-1, keepdims=True)
    seen = tuple(Observation(visible=np.ones((6, 512), bool), weights=w) for w in weights)
    text = shown(Record(Sight("encoder", said, said, seen)))
    assert len(rows(text)) == 511
    assert len(text) < 100_000


def test_record_show_is_this_view(record, capsys):
    record.show("it")
    assert "“it” looks" in capsys.readouterr().out


def test_the_translation_has_a_table_of_its_own(translator):
    record = look(SENTENCE, translator, cross=True)
    text = shown(record)
    assert text.startswith(shown(look(SENTENCE, translator)).rstrip())
    own = text[text.index("Where each word of the translation looked") :]
    words = record.cross.queries.names
    assert [row[0] for row in rows(own)] == list(words)
    assert all(row[1] in record.words for row in rows(own))
    assert "1 layers" not in own


def test_a_choice_narrows_the_table_of_the_translation(translator):
    record = look(SENTENCE, translator, cross=True)
    words = ["animal", "it"]
    text = shown(record, words=words, layer=0, head=1)
    own = text[text.index("Which words of the translation looked mostly at “animal” or “it”") :]
    links = record.cross.links(layer=0, head=1)
    wanted = {k["from"]: k["to"] for k in links if k["to"] in words}
    assert "its most telling link in layer 0 head 1." in " ".join(own.split())
    if wanted:
        assert {row[0]: row[1] for row in rows(own)} == wanted
    else:
        assert "None did." in own


def test_a_layer_that_only_the_sentence_has_is_not_in_the_translation(record):
    said, weights = record.encoder.keys, record.encoder.observations
    cross = Sight("cross", said, said, weights[:1])
    text = shown(replace(record, cross=cross), layer=1)
    assert "The translation looks in 1 layer of 2 heads only." in text
