"""Which files the whole measurement reads."""

import pytest

from clearhead.errors import ArgumentError
from clearhead.training.evaluation.suite import suite


@pytest.fixture
def folders(tmp_path):
    corpus, data = tmp_path / "corpus", tmp_path / "data"
    for folder, names in (
        (corpus, ["tatoeba-own-test.en-fr.tsv.gz", "winograd_pairs.tsv", "other.tsv"]),
        (data, ["tatoeba-challenge-test.en-fr.tsv.gz", "scat-intra.en-fr.tsv"]),
    ):
        folder.mkdir()
        for name in names:
            (folder / name).touch()
    return corpus, data


def test_it_is_what_is_there_of_the_files_it_knows(folders):
    corpus, data = folders
    found = suite(["fr", "de"], data, corpus)
    assert [part.path.name for part in found] == [
        "tatoeba-own-test.en-fr.tsv.gz", "winograd_pairs.tsv",
        "tatoeba-challenge-test.en-fr.tsv.gz", "scat-intra.en-fr.tsv",
    ]  # fmt: skip
    assert [part.align for part in found] == [True, False, False, False]
    assert len(suite(["fr"], None, corpus)) == 2
    assert len(suite(["de"], None, corpus)) == 1


def test_only_the_core_of_the_challenge_is_read_since_training_may_know_the_rest(folders):
    corpus, data = folders
    found = {part.path.name: part.where for part in suite(["fr"], data, corpus)}
    assert found["tatoeba-challenge-test.en-fr.tsv.gz"] == (("core", "1"),)
    assert found["winograd_pairs.tsv"] == ()


def test_a_folder_without_any_of_them_is_refused(folders, tmp_path):
    corpus, _ = folders
    with pytest.raises(ArgumentError, match="give TSV files, or run this in the repository"):
        suite(["fr"], None, tmp_path)
    with pytest.raises(
        ArgumentError, match=r"data: .* holds none .* wanted tatoeba-challenge-test"
    ):
        suite(["fr"], corpus, corpus)
