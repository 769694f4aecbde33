import json

import pytest

from clearhead.record.looking import look

SENTENCE = "The animal didn't cross the street because it was too tired."


def test_the_translation_and_where_each_word_looks(command, folder):
    found = command(SENTENCE, "--model", folder)
    assert (found.status, found.err) == (0, "")
    record = look(SENTENCE, folder)
    assert record.translation in found.out
    assert all(word in found.out for word in record.words)
    assert "layer" in found.out
    assert "end mark" in found.out


def test_json_is_what_a_record_saves(command, folder, tmp_path):
    found = command(SENTENCE, "--json", "--to", "de", "--model", folder)
    look(SENTENCE, folder, "de").save(tmp_path / "x.json")
    assert found.out == (tmp_path / "x.json").read_text(encoding="utf-8")
    assert json.loads(found.out)["language"] == "de"


def test_words_layers_and_heads_narrow(command, folder):
    narrow = ["--word", "it", "--word", "animal", "--layer", 1, "--head", 0]
    found = json.loads(command(SENTENCE, *narrow, "--json", "--model", folder).out)
    assert [(k["from"], k["layer"], k["head"]) for k in found["links"]].count(("it", 1, 0)) == 1
    assert {k["from"] for k in found["links"]} == {"it", "animal"}
    everything = json.loads(command(SENTENCE, "--cross", "--json", "--model", folder).out)
    crossed = json.loads(command(SENTENCE, *narrow, "--cross", "--json", "--model", folder).out)
    assert crossed["cross"] == [
        k for k in everything["cross"]
        if k["to"] in ("it", "animal") and (k["layer"], k["head"]) == (1, 0)
    ]  # fmt: skip
    shown = command(SENTENCE, *narrow, "--model", folder).out
    assert shown.index("“it” looks") < shown.index("“animal” looks")


def test_the_sentence_may_stand_on_stdin(command, folder):
    found = command("look", "--json", "--model", folder, stdin="Łódź ran.\n".encode())
    assert json.loads(found.out)["sentence"] == "Łódź ran."
    dash = command("look", "-", "--json", "--model", folder, stdin="Łódź ran.\n".encode())
    assert dash.out == found.out


def test_stdin_that_is_not_utf_8_is_refused(command, folder):
    found = command("look", "--model", folder, stdin=b"caf\xe9\n")
    assert found.status == 2
    assert "line 1 is not UTF-8: byte 0xe9 at 3" in found.err


@pytest.mark.parametrize("text", ["🙂🎉", "a\x00b", "x" * 50_000, "... !!!", "a\u2028b"])
def test_odd_sentences_are_sentences(command, folder, text):
    found = command(text, "--model", folder)
    assert found.status == 0
    assert "\x00" not in found.out
    assert len(found.out) < 20_000


def test_links_of_the_translation_are_shown_on_request(command, folder):
    found = command(SENTENCE, "--cross", "--json", "--model", folder)
    assert {link["kind"] for link in json.loads(found.out)["cross"]} == {"cross"}
    assert "translation looked" in command(SENTENCE, "--cross", "--model", folder).out
    assert "cross" not in json.loads(command(SENTENCE, "--json", "--model", folder).out)
