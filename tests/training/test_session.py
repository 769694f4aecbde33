"""Opening a run: anew, resumed, from a model, and what is refused."""

import json

import numpy as np
import pytest

from clearhead.errors import ArgumentError, TrainingError
from clearhead.model.config import TranslationConfig
from clearhead.model.tree import flatten, nest
from clearhead.training import checkpoint
from clearhead.training.session import fits, open_run


def test_two_starts_of_a_recipe_are_the_same(small_recipe, tmp_path):
    one, two = (open_run(small_recipe(), tmp_path / name)[0] for name in "ab")
    assert one.one_step()["loss"] == two.one_step()["loss"]


def test_the_run_says_what_it_does(small_recipe, tmp_path):
    lines = []
    trainer, vocabulary = open_run(small_recipe(), tmp_path, say=lines.append)
    assert lines[0] == "50 pairs read"
    assert lines[1] == "learning 320 pieces"
    trainer.one_step()
    trainer.save()
    lines.clear()
    _, again = open_run(small_recipe(), tmp_path, say=lines.append)
    assert lines[-1] == "goes on after step 1 of 6 (checkpoint-0000001.pt)"
    assert again.encode("The cat.").ids == vocabulary.encode("The cat.").ids


def test_a_folder_that_cannot_be_made_is_told(small_recipe, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match="cannot be written"):
        open_run(small_recipe(), tmp_path / "file" / "run")


def test_missing_text_is_told(small_recipe, tmp_path):
    with pytest.raises(ArgumentError, match=r"gone\.tsv is not there"):
        open_run(small_recipe(pairs={"fr": [str(tmp_path / "gone.tsv")]}), tmp_path / "run")
    with pytest.raises(ArgumentError, match="names no pairs"):
        open_run(small_recipe(pairs={}), tmp_path / "run")


@pytest.fixture
def warm(small_recipe, tmp_path):
    """A model as it comes from a file: its entries in another order."""
    trainer, vocabulary = open_run(small_recipe(steps=4, seed=1), tmp_path / "before")
    for _ in range(4):
        trainer.one_step()
    weights = nest(dict(sorted(flatten(trainer.weights()).items())))
    return vocabulary, trainer.config, weights


def test_a_warm_start_begins_with_the_model_s_weights(small_recipe, tmp_path, warm):
    lines = []
    trainer, vocabulary = open_run(small_recipe(), tmp_path / "run", warm=warm, say=lines.append)
    assert any("starts from the weights of a trained model" in line for line in lines)
    assert vocabulary is warm[0]
    held = flatten(warm[2])
    for name, array in flatten(trainer.weights()).items():
        assert np.array_equal(array, held[name])


@pytest.mark.parametrize("warm_again", [True, False])
def test_a_warm_run_goes_on_like_any_other(small_recipe, tmp_path, warm, warm_again):
    recipe = small_recipe()
    whole, _ = open_run(recipe, tmp_path / "whole", warm=warm)
    for _ in range(4):
        whole.one_step()
    first, _ = open_run(recipe, tmp_path / "run", warm=warm)
    first.one_step()
    first.one_step()
    first.save()
    second, vocabulary = open_run(recipe, tmp_path / "run", warm=warm if warm_again else None)
    second.one_step()
    second.one_step()
    assert vocabulary.size == warm[0].size
    ours, theirs = flatten(second.weights()), flatten(whole.weights())
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)


def test_a_head_guided_in_either_training_is_said_to_be_guided(small_recipe, tmp_path, warm):
    trainer, _ = open_run(small_recipe(guided=[0, 1]), tmp_path / "run", warm=warm)
    assert trainer.config.guided == ((0, 1), (1, 0))
    state = checkpoint.read(trainer.save())
    assert json.loads(state["config"])["guided"] == [[0, 1], [1, 0]]


def test_no_head_is_said_to_be_guided_where_no_antecedents_are_marked(small_recipe, tmp_path):
    trainer, _ = open_run(small_recipe(antecedents=None), tmp_path)
    assert trainer.config.guided == ()


def test_a_model_fits_a_recipe_of_its_sizes_and_languages(small_recipe):
    sizes = {"width": 16, "heads": 2, "encoder_layers": 2, "decoder_layers": 1}
    assert fits(small_recipe(), TranslationConfig(vocabulary=9, **sizes))
    assert not fits(small_recipe(), TranslationConfig(vocabulary=9, **sizes, languages=("de",)))
    assert not fits(small_recipe(width=32), TranslationConfig(vocabulary=9, **sizes))
