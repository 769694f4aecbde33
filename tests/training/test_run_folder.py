"""The folder of a run: where it is, whose it is, and which recipe may go on in it."""

import pytest

from clearhead.errors import ArgumentError, TrainingError
from clearhead.training.run_folder import default_folder, sole_user
from clearhead.training.session import open_run


def test_runs_live_in_the_cache_unless_told_otherwise(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "clearhead" / "run"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "clearhead" / "run"


def test_a_folder_has_one_user_at_a_time(tmp_path):
    run, used = tmp_path / "run", pytest.raises(TrainingError, match="in use by another process")
    with sole_user(run), used, sole_user(run):
        raise AssertionError
    with sole_user(tmp_path / "run"):
        pass


def test_a_folder_of_another_recipe_is_refused(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(), tmp_path)
    trainer.save()
    with pytest.raises(ArgumentError, match=r"another recipe \(width, rate differ\)"):
        open_run(small_recipe(rate=1.0, width=32), tmp_path)


def test_what_changes_no_weight_may_be_changed(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(), tmp_path)
    trainer.save()
    changed = small_recipe(dev={"fr": "elsewhere.tsv"}, average=9, patience=2, steps=7, decay=0.1)
    open_run(changed, tmp_path)
