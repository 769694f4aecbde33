"""A training run from its recipe: text, vocabulary, weights, and where an earlier one left off."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from clearhead.errors import TrainingError
from clearhead.model.config import TranslationConfig
from clearhead.model.translation import random_weights
from clearhead.model.vocabulary import Vocabulary
from clearhead.training import checkpoint
from clearhead.training.data import prepare, read_pairs, with_language
from clearhead.training.recipe import Recipe
from clearhead.training.train import Trainer

__all__ = ["default_folder", "open_run"]


def default_folder() -> Path:
    """Where runs live unless told otherwise: ``$XDG_CACHE_HOME/clearhead/run``."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "clearhead" / "run"


def open_run(
    recipe: Recipe,
    folder: Path,
    *,
    device: str = "cpu",
    warm: tuple[Vocabulary, TranslationConfig, Mapping[str, Any]] | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[Trainer, Vocabulary]:
    """Opens a run: resumes from its newest checkpoint, or starts.

    Args:
        recipe: what to do; ``steps`` may differ from an earlier start, all else is the run's own.
        folder: of the run; it is made where it is missing.
        device: "cpu" or "cuda".
        warm: vocabulary, config and weights to start from when there is no checkpoint.
        say: called with one line for each stage.

    Returns:
        the trainer, and the vocabulary.

    Raises:
        TrainingError: the folder cannot be written, belongs to another recipe, or the text is
            missing.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _claim(recipe, folder)
    except OSError as error:
        raise TrainingError(
            f"run folder {folder} cannot be written ({error}); give another one with --run"
        ) from error
    pairs = list(with_language(recipe.pairs))
    if not pairs:
        raise TrainingError("the recipe names no pairs to train on")
    say(f"{len(pairs):,} pairs read")
    vocabulary = warm[0] if warm else _vocabulary(recipe, folder, pairs, say)
    antecedents = dict(read_pairs(recipe.antecedents)) if recipe.antecedents else {}
    data = prepare(
        pairs, vocabulary, antecedents=antecedents, slots=recipe.slots, seed=recipe.seed
    )
    say(f"{len(data.source) + len(data.target):,} pieces in {len(data):,} pairs")
    config = warm[1] if warm else _config(recipe, vocabulary)
    weights = warm[2] if warm else random_weights(config, recipe.seed)
    trainer = Trainer(recipe, config, data, weights, vocabulary.pad, folder, device)
    found = checkpoint.newest(folder)
    if found:
        trainer.restore(found)
        say(f"goes on after step {trainer.step:,} of {recipe.steps:,} ({found.name})")
    return trainer, vocabulary


def _claim(recipe: Recipe, folder: Path) -> None:
    """Keeps the recipe beside the checkpoints, and refuses a folder that belongs to another."""
    path = folder / "recipe.json"
    if path.exists():
        before = Recipe.read(path)
        same = dataclasses.replace(before, steps=recipe.steps, decay=recipe.decay)
        if same != recipe and checkpoint.newest(folder):
            differing = [
                field.name
                for field in dataclasses.fields(Recipe)
                if getattr(same, field.name) != getattr(recipe, field.name)
            ]
            raise TrainingError(
                f"run folder {folder} holds a run with another recipe ({', '.join(differing)} "
                "differ); give another folder with --run, or the recipe it was started with"
            )
    beside = path.with_suffix(".part")
    recipe.write(beside)
    beside.replace(path)


def _vocabulary(
    recipe: Recipe, folder: Path, pairs: list[tuple[str, str, str]], say: Callable[[str], None]
) -> Vocabulary:
    path = folder / "vocabulary.json"
    if not path.exists():
        texts = sorted({pair[0] for pair in pairs}) + [pair[1] for pair in pairs]
        say(f"learning {recipe.vocabulary:,} pieces")
        made = Vocabulary.learn(texts, size=recipe.vocabulary, languages=tuple(recipe.pairs))
        beside = path.with_suffix(".part")
        made.save(beside)
        beside.replace(path)
    return Vocabulary.read(path)


def _config(recipe: Recipe, vocabulary: Vocabulary) -> TranslationConfig:
    layer, head = recipe.guided
    guided = ((layer % recipe.encoder_layers, head),) if recipe.guide else ()
    return TranslationConfig(
        vocabulary=vocabulary.size,
        width=recipe.width,
        heads=recipe.heads,
        encoder_layers=recipe.encoder_layers,
        decoder_layers=recipe.decoder_layers,
        languages=tuple(recipe.pairs),
        guided=guided,
    )
