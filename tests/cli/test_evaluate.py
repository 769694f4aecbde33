"""``clearhead evaluate`` on small files, with a small model."""

import json

import pytest

from clearhead.cli.manners import run
from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import random_weights
from clearhead.model.vocabulary import Vocabulary
from clearhead.model.weights import save_model

TEXTS = ["The cat saw the dog because it was big.", "Le chat voit le chien car il est grand."] * 99


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    words = Vocabulary.learn(TEXTS, size=320, languages=("fr", "de"))
    config = TranslationConfig(
        vocabulary=words.size, width=16, heads=2, encoder_layers=2, decoder_layers=1,
        guided=((1, 0),),
    )  # fmt: skip
    save_model(folder, config, words, random_weights(config))
    return str(folder)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.tsv"
    path.write_text("en\tfr\nThe cat.\tLe chat.\nThe dog.\tLe chien.\nIt was big.\tIl est grand.\n")
    return str(path)


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "pair\ten\tfr\tfr_contrast\tantecedent_en\tother_en\n"
        "a\tThe cat saw the dog because it was big.\til est\telle est\tcat\tdog\n"
        "a\tThe cat saw the dog because it was small.\telle est\til est\tdog\tcat\n"
    )
    return str(path)


def test_json_holds_every_figure(model, text, pairs, capsys):
    assert run(["evaluate", text, pairs, "--model", model, "--to", "fr", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (translation,), (pronouns,), (heads,) = found.values()
    assert (translation["lines"], translation["to"], translation["beam"]) == (3, "fr", 4)
    assert 0 <= translation["bleu"] <= 100
    assert "tok:13a" in translation["bleu_signature"]
    assert "nc:6" in translation["chrf_signature"]
    assert (pronouns["sentences"], pronouns["pairs"]) == (2, 1)
    assert heads["sentences"] == 2
    assert heads["guided"] == [[1, 0]]
    assert [len(layer) for layer in heads["share"]] == [2, 2]


def test_the_table_marks_the_guided_head(model, text, pairs, capsys):
    assert run(["evaluate", text, pairs, "--model", model, "--to", "fr", "--limit", "2"]) == 0
    told = capsys.readouterr().out
    assert "* guided in training: (1, 0); no other was; chance is 50 %" in told
    assert "of 1 (" in told
    assert "BLEU|nrefs:1" in told
    assert max(map(len, told.splitlines())) <= 110


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("en\tfr\nonly one\n", "line 2: found 1 columns; wanted 2"),
        ("english\tfrench\na\tb\n", "has the columns english, french; wanted en and one of fr"),
        ("en\tfr\n", "of no rows"),
    ],
)
def test_files_that_say_nothing_are_wrong_use(tmp_path, model, capsys, content, message):
    (tmp_path / "odd.tsv").write_text(content)
    arguments = ["evaluate", str(tmp_path / "odd.tsv"), "--model", model, "--to", "fr"]
    assert run(arguments) == 2
    assert message in capsys.readouterr().err


def test_another_language_and_a_missing_corpus_are_wrong_use(
    model, text, tmp_path, monkeypatch, capsys
):
    assert run(["evaluate", text, "--model", model, "--to", "it"]) == 2
    monkeypatch.chdir(tmp_path)
    assert run(["evaluate", "--model", model]) == 2
    assert "run this in the repository" in capsys.readouterr().err
