"""A BERT-type encoder in front: frozen with its states on disk, or trained along."""

import errno
import os

import numpy as np
import pytest
import torch

from clearhead.errors import ArgumentError, ModelError, TrainingError
from clearhead.model.source import source_states
from clearhead.model.translator import load_translator
from clearhead.model.tree import flatten
from clearhead.record.looking import look
from clearhead.training import checkpoint
from clearhead.training.evaluation.links import heads
from clearhead.training.packing import pack
from clearhead.training.session import fits, open_run
from support.bert import small_folder

TEXT = "The cat sleeps because it can."


@pytest.fixture
def encoder_recipe(small_recipe, tmp_path):
    """Makes a recipe with a small BERT-type encoder in front."""
    folder = small_folder(tmp_path / "bert")

    def make(mode, **changes):
        return small_recipe(encoder=str(folder), encoder_mode=mode, **changes)

    return make


def flat(trainer):
    return flatten(trainer.weights())


def test_kept_states_are_those_of_the_encoder(encoder_recipe, tmp_path):
    trainer, _ = open_run(encoder_recipe("frozen"), tmp_path / "run")
    weights, config = trainer.weights()["source"], trainer.config.source
    for _ in range(3):
        batch = trainer._next_batch()
        right = source_states(weights, config, batch.source, batch.source_lengths)
        kept = trainer.kept.read(batch.numbers, torch.float32, "cpu").numpy()
        for b, length in enumerate(batch.source_lengths):
            assert np.abs(kept[b, :length] - right[b, :length]).max() < 2e-2  # bfloat16
            assert not kept[b, length:].any()


def test_a_frozen_encoder_stays_as_it_was_and_what_is_behind_it_learns(encoder_recipe, tmp_path):
    trainer, _ = open_run(encoder_recipe("frozen", steps=60, rate=1e-2), tmp_path / "run")
    before = flat(trainer)
    losses = [trainer.one_step()["loss"] for _ in range(60)]
    after = flat(trainer)
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])
    for name in before:
        still = np.array_equal(before[name], after[name])
        assert still == name.startswith("source."), name


def test_an_encoder_trained_along_moves_by_its_share_of_the_rate(encoder_recipe, tmp_path):
    moved = {}
    for share in (0.0, 0.1, 1.0):
        recipe = encoder_recipe("trained", encoder_rate=share)
        trainer, _ = open_run(recipe, tmp_path / f"run{share}")
        before = flat(trainer)["source.layers.0.feed_forward.w_in"]
        for _ in range(4):
            trainer.one_step()
        after = flat(trainer)["source.layers.0.feed_forward.w_in"]
        moved[share] = np.abs(after - before).max()
    assert moved[0.0] == 0
    assert moved[1.0] > 5 * moved[0.1] > 0
    assert trainer.kept is None


@pytest.mark.parametrize("mode", ["frozen", "trained"])
def test_an_interruption_changes_no_number(encoder_recipe, tmp_path, mode):
    recipe = encoder_recipe(mode)
    whole, _ = open_run(recipe, tmp_path / "whole")
    for _ in range(4):
        whole.one_step()
    first, _ = open_run(recipe, tmp_path / "parts")
    first.one_step()
    first.one_step()
    first.save()
    second, _ = open_run(recipe, tmp_path / "parts")
    second.one_step()
    second.one_step()
    one, two = flat(whole), flat(second)
    assert list(one) == list(two)
    assert all(np.array_equal(one[name], two[name]) for name in one)


@pytest.mark.filterwarnings("ignore::clearhead.model.translated.LineWarning")  # untrained: no end
@pytest.mark.parametrize("mode", ["frozen", "trained"])
def test_the_model_is_packed_loaded_and_translates_and_looks(encoder_recipe, tmp_path, mode):
    trainer, vocabulary = open_run(encoder_recipe(mode), tmp_path / "run")
    trainer.one_step()
    pack(trainer.save(), tmp_path / "model")
    model = load_translator(tmp_path / "model")
    assert model.config.source.width == 8
    assert model.encode(TEXT).ids == vocabulary.source.encode(TEXT).ids
    found = model.translations([TEXT, "", "Łódź 🙂"], beam=2)
    assert [item.source for item in found] == [TEXT, "", "Łódź 🙂"]
    record = look(TEXT, model=tmp_path / "model")
    assert record.words == ("The", "cat", "sleeps", "because", "it", "can", ".")
    assert (record.layers, record.heads, record.guided) == (2, 2, ((1, 0),))
    row = {"en": TEXT, "antecedent_en": "cat", "other_en": "The"}
    assert heads(model, [row]).sentences == 1
    alone = model.score(TEXT, "Le chat dort.")
    together = model.score([TEXT, TEXT + " " + TEXT], ["Le chat dort.", "Le chien."])
    assert together[0] == pytest.approx(alone, abs=1e-4)


def test_states_are_computed_once(encoder_recipe, tmp_path):
    recipe, lines = encoder_recipe("frozen"), []
    open_run(recipe, tmp_path / "run", say=lines.append)
    assert any("sources to read" in line for line in lines)
    lines.clear()
    open_run(recipe, tmp_path / "run", say=lines.append)
    assert not any("sources to read" in line for line in lines)
    (tmp_path / "run" / "states.bf16").write_bytes(b"cut off")
    open_run(recipe, tmp_path / "run", say=lines.append)
    assert any("sources to read" in line for line in lines)


def test_a_disk_without_room_for_the_states_is_told(encoder_recipe, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(TrainingError, match=r"No space left.*encoder_mode trained"):
        open_run(encoder_recipe("frozen"), tmp_path / "run")
    assert not list((tmp_path / "run").glob("states*"))


def test_the_guided_head_is_pulled_here_too(encoder_recipe, tmp_path):
    trainer, _ = open_run(encoder_recipe("frozen", steps=100, rate=1e-2), tmp_path / "run")
    found = [trainer.one_step()["guide"] for _ in range(100)]
    guides = [guide for guide in found if not np.isnan(guide)]
    assert np.mean(guides[-5:]) < 0.5 * np.mean(guides[:5])


def test_what_cannot_be_an_encoder_is_refused(small_recipe, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"holds no config\.json"):
        open_run(small_recipe(encoder=str(tmp_path / "empty")), tmp_path / "run")
    with pytest.raises(ArgumentError, match="encoder_mode is 'thawed'"):
        small_recipe(encoder="x", encoder_mode="thawed")


def test_a_model_with_an_encoder_fits_no_recipe_without(encoder_recipe, small_recipe, tmp_path):
    trainer, _ = open_run(encoder_recipe("trained"), tmp_path / "run")
    assert fits(encoder_recipe("trained"), trainer.config)
    assert not fits(small_recipe(), trainer.config)
    state = checkpoint.read(trainer.save())
    assert "source.words" in state["weights"]
