"""From a checkpoint to a model folder."""

import json

import numpy as np
import pytest
import torch

from clearhead.errors import ModelError, TrainingError
from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import random_weights
from clearhead.model.translator import load_translator
from clearhead.model.tree import flatten
from clearhead.model.vocabulary import Vocabulary
from clearhead.training import checkpoint
from clearhead.training.packing import checkpoint_weights, pack


@pytest.fixture
def run(tmp_path):
    """A run's folder with one checkpoint, and what is in it."""
    vocabulary = Vocabulary.learn(["the cat sat on the mat"] * 99, size=300, languages=("fr", "de"))
    config = TranslationConfig(vocabulary=vocabulary.size, width=8, heads=2, encoder_layers=1)
    vocabulary.save(tmp_path / "vocabulary.json")
    weights = {name: torch.from_numpy(x) for name, x in flatten(random_weights(config)).items()}
    state = {
        "step": 7, "epoch": 1, "seconds": 2.5, "weights": weights,
        "config": json.dumps(config.to_dict()),
    }  # fmt: skip
    return checkpoint.write(tmp_path, state), config, weights


def test_a_packed_checkpoint_translates(run, tmp_path):
    path, config, _ = run
    assert pack(path, tmp_path / "model", card="# Card") == config
    translator = load_translator(tmp_path / "model")
    assert translator.config == config
    assert translator.translations(["the cat"], max_length=3)[0].text
    assert (tmp_path / "model" / "README.md").read_text() == "# Card"


def test_the_weights_are_those_of_the_checkpoint(run):
    path, config, weights = run
    found_config, found, known = checkpoint_weights(path)
    assert found_config == config
    assert known == {"step": 7, "epoch": 1, "seconds": 2.5}
    for name, array in flatten(found).items():
        np.testing.assert_array_equal(array, weights[name].numpy())


def test_packing_again_keeps_the_card(run, tmp_path):
    path, _, _ = run
    pack(path, tmp_path / "model", card="# Card")
    pack(path, tmp_path / "model")
    assert (tmp_path / "model" / "README.md").read_text() == "# Card"


def test_a_damaged_or_foreign_checkpoint_is_named(run, tmp_path):
    path, _, _ = run
    torch.save({"step": 1}, tmp_path / "foreign.pt")
    with pytest.raises(TrainingError, match=r"foreign\.pt is no checkpoint of a run"):
        pack(tmp_path / "foreign.pt", tmp_path / "model")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(TrainingError, match="cannot be read"):
        pack(path, tmp_path / "model")


def test_a_checkpoint_without_its_vocabulary_is_named(run, tmp_path):
    path, _, _ = run
    (tmp_path / "vocabulary.json").unlink()
    with pytest.raises(ModelError, match=r"holds no vocabulary\.json"):
        pack(path, tmp_path / "model")
