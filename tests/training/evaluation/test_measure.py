"""Files are measured by their columns."""

import json
from pathlib import Path

import pytest

from clearhead.errors import ArgumentError
from clearhead.training.evaluation.measure import SECTIONS, Measuring
from clearhead.training.evaluation.suite import Part

PAIRS = """pair\ten\tfr\tfr_contrast\tantecedent_en\tother_en
a\tThe cat saw the dog because it was big.\til est grand\telle est grand\tcat\tdog
a\tThe cat saw the dog because it was small.\telle est grand\til est grand\tdog\tcat
"""


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def measured(translator, *parts, languages=("fr",), **options):
    run = {name: options.pop(name) for name in ("dev", "gold") if name in options}
    return Measuring(translator, languages, beam=1, **options).run(parts, **run)


def test_figures_are_plain_and_have_every_section(translator, write):
    text = write("text.tsv", "en\tfr\nThe cat saw it.\tLe chat voit.\n")
    found = measured(translator, Part(text, align=True), Part(write("pairs.tsv", PAIRS)))
    assert tuple(found) == SECTIONS
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(dict(found)))
    (translation,), (pronouns,), (alignment,) = (
        found[name] for name in ("translation", "pronouns", "alignment")
    )
    assert (translation["lines"], translation["beam"], translation["to"]) == (1, 1, "fr")
    assert translation["sentences_per_second"] > 0
    assert (pronouns["sentences"], pronouns["pairs"]) == (2, 1)
    assert alignment["sentences"] == 1
    assert [(heads["kind"], heads["to"]) for heads in found["heads"]] == [
        ("encoder", None), ("cross", "fr"),
    ]  # fmt: skip
    assert found["model"]["guided"] == [[0, 1]]


def test_the_dev_file_chooses_the_best_heads_that_were_not_guided(translator, write):
    pairs, dev = write("pairs.tsv", PAIRS), write("some-dev.tsv", PAIRS)
    found = measured(translator, Part(pairs), Part(dev))
    assert [(c["kind"], Path(c["file"]).name) for c in found["chosen"]] == [
        ("encoder", "some-dev.tsv"), ("cross", "some-dev.tsv"),
    ]  # fmt: skip
    assert found["chosen"][0]["head"] == [0, 0]
    assert measured(translator, Part(pairs))["chosen"] == []
    assert len(measured(translator, Part(pairs), dev=pairs)["chosen"]) == 2


def test_pronoun_and_link_are_counted_together_and_apart(translator, write):
    (found,) = measured(translator, Part(write("pairs.tsv", PAIRS)))["pronouns"]
    held = found["with_links"]
    assert (held["head"], held["guided"]) == ([0, 1], True)
    counts = [held[name] for name in ("both", "pronoun_alone", "link_alone", "neither")]
    assert sum(counts) == 2
    assert held["both"] + held["pronoun_alone"] == found["right"]


def test_rows_are_chosen_and_told(translator, write):
    text = write("text.tsv", "en\tfr\tcore\nThe cat.\tLe chat.\t1\nIt.\tIl.\t0\nBig.\tGrand.\t1\n")
    found = measured(translator, Part(text, where=(("core", "1"),), limit=1))
    (translation,) = found["translation"]
    assert (translation["lines"], translation["where"]) == (1, {"core": "1"})
    assert translation["sampled_from"] == 2


def test_two_text_files_side_by_side_are_a_table(translator, write):
    source, reference = write("t.en", "The cat.\nBig.\n"), write("t.fr", "Le chat.\nGrand.\n")
    (found,) = measured(translator, Part(source, reference=reference))["translation"]
    assert (found["lines"], found["to"]) == (2, "fr")
    with pytest.raises(ArgumentError, match=r"t\.en has 2 lines and .*t\.de has 1"):
        measured(translator, Part(source, reference=write("t.de", "Die Katze.\n")))


def test_marked_alignments_give_an_error_rate(translator, write):
    text = write("text.tsv", "en\tfr\nThe cat saw it .\tLe chat voit .\n")
    gold = write("gold.txt", "0-0 1-1 2-2 4-3\n")
    (found,) = measured(translator, Part(text), gold=gold)["alignment"]
    assert [*found["gold"]] == ["written", "later"]
    assert [len(rate) for rate in found["gold"]["later"].values()] == [2] * 3
    assert all(0 <= each <= 1 for each in found["gold"]["written"]["aer"])


def test_progress_is_told_by_name_and_size(translator, write):
    told = {}

    def watch(what, total):
        told[what] = [total, 0]

        def done(more):
            told[what][1] += more

        return done

    measured(translator, Part(write("pairs.tsv", PAIRS)), watch=watch)
    assert told == {
        "pairs.tsv heads": [2, 2],
        "pairs.tsv cross-attention to fr": [2, 2],
        "pairs.tsv pronouns to fr": [4, 4],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("en\tfr\n", "names columns and has no rows; wanted one row at least"),
        ("en\tit\na\tb\n", "has the columns en, it; wanted en and one of fr, or en and antecedent"),
        ("fr\tfr_contrast\na\tb\n", "has the columns fr, fr_contrast; wanted en and"),
    ],
)
def test_a_file_that_says_nothing_is_refused_before_anything_is_computed(write, text, message):
    class Untouched:
        class config:
            encoder_layers = decoder_layers = width = heads = 1
            guided = ()

    good = Part(write("good.tsv", "en\tfr\na\tb\n"))
    with pytest.raises(ArgumentError, match=message):
        measured(Untouched, good, Part(write("odd.tsv", text)))
