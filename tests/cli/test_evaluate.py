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
    (translation,), (pronouns,) = found["translation"], found["pronouns"]
    assert (translation["lines"], translation["to"], translation["beam"]) == (3, "fr", 4)
    assert 0 <= translation["bleu"] <= 100
    assert "tok:13a" in translation["bleu_signature"]
    assert "nc:6" in translation["chrf_signature"]
    assert (pronouns["sentences"], pronouns["pairs"]) == (2, 1)
    encoder, cross = found["heads"]
    assert (encoder["sentences"], encoder["guided"]) == (2, [[1, 0]])
    assert [len(layer) for layer in encoder["more"]] == [2, 2]
    assert [len(layer) for layer in cross["most"]] == [2]
    assert (found["chosen"], found["alignment"]) == ([], [])


def test_the_table_marks_the_guided_head(model, text, pairs, capsys):
    assert run(["evaluate", text, pairs, "--model", model, "--to", "fr", "--limit", "2"]) == 0
    told = capsys.readouterr().out
    assert "* guided in training: (1, 0); no other was; chance is 50 %" in told
    assert "of 1 (" in told
    assert "BLEU|nrefs:1" in told
    assert "guided head (1, 0)" in told


def test_rows_are_chosen_by_a_column_and_scored_as_asked(model, tmp_path, capsys):
    (tmp_path / "text.tsv").write_text("en\tfr\tcore\nThe cat.\tLe chat.\t1\nBig.\tGrand.\t0\n")
    arguments = ["evaluate", str(tmp_path / "text.tsv"), "--model", model, "--to", "fr", "--json"]
    assert run([*arguments, "--where", "core=1", "--scoring", "moses", "--align"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["translation"][0]["lines"] == 1
    assert "split by sacremoses" in found["translation"][0]["bleu_signature"]
    assert found["alignment"][0]["sentences"] == 1
    for wrong, message in (("kern=1", "has no column 'kern'"), ("core", "wanted COLUMN=VALUE")):
        assert run([*arguments, "--where", wrong]) == 2
        assert message in capsys.readouterr().err


def test_the_best_heads_are_chosen_on_a_dev_file(model, text, pairs, capsys):
    assert run(["evaluate", text, "--dev", pairs, "--model", model, "--to", "fr", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["kind"] for each in found["chosen"]] == ["encoder", "cross"]
    assert found["chosen"][0]["head"] != [1, 0]


def test_two_text_files_are_measured_side_by_side(model, tmp_path, capsys):
    (tmp_path / "t.en").write_text("The cat.\nBig.\n")
    (tmp_path / "t.fr").write_text("Le chat.\nGrand.\n")
    source, reference = str(tmp_path / "t.en"), str(tmp_path / "t.fr")
    arguments = ["evaluate", source, "--reference", reference, "--model", model]
    assert run([*arguments, "--to", "fr"]) == 0
    assert "(2 lines)" in capsys.readouterr().out
    assert run(arguments) == 2
    assert "--reference belongs to one file in one language" in capsys.readouterr().err


def test_marked_alignments_belong_to_one_file_in_one_language(model, tmp_path, text, capsys):
    (tmp_path / "gold").write_text("0-0\n1-1\n0-0 2-2\n")
    arguments = ["evaluate", text, "--gold", str(tmp_path / "gold"), "--model", model]
    assert run([*arguments, "--to", "fr"]) == 0
    assert "AER" in capsys.readouterr().out
    assert run(arguments) == 2
    assert "--gold belongs to one file in one language" in capsys.readouterr().err


def test_pages_are_written_from_the_model_or_from_figures(model, text, tmp_path, capsys):
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    for each in (page, other):
        each.write_text("a\n<!-- scores -->\n<!-- /scores -->\nz\n")
    arguments = ["evaluate", text, "--model", model, "--to", "fr", "--json", "--page", str(page)]
    assert run(arguments) == 0
    told = capsys.readouterr().out
    assert "| Translation: BLEU / chrF | French |" in page.read_text()
    (tmp_path / "figures.json").write_text(told)
    again = ["evaluate", "--figures", str(tmp_path / "figures.json")]
    assert run([*again, "--json", "--page", str(other)]) == 0
    assert capsys.readouterr().out == told
    assert other.read_text() == page.read_text()
    for wrong, message in (
        ([*again, text], "leave out the files"),
        (["evaluate", "--figures", text], "cannot be read as JSON"),
        ([*again, "--page", text], "has 0 places for scores"),
    ):
        assert run(wrong) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "figures.json").write_text("{}")
    assert run(again) == 2
    assert "holds no figures" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("en\tfr\nonly one\n", "line 2: found 1 columns; wanted 2"),
        ("english\tfrench\na\tb\n", "has the columns english, french; wanted en and one of fr"),
        ("en\tfr\n", "has no rows"),
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
    assert run(["evaluate", "--model", model, "--where", "core=1"]) == 2
    assert "--where needs FILES" in capsys.readouterr().err
    assert run(["evaluate", text, "--data", str(tmp_path), "--model", model]) == 2
    assert "leave FILES out" in capsys.readouterr().err
