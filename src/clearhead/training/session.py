"""A training run from its recipe: text, vocabulary, weights, and where an earlier one left off."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from clearhead.errors import ArgumentError, ModelError
from clearhead.model.bert import BertConfig
from clearhead.model.checkpoint_folder import read_checkpoint
from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import random_weights
from clearhead.model.source import SourcePieces
from clearhead.model.tree import flatten, nest
from clearhead.model.vocabulary import Vocabulary
from clearhead.training import checkpoint
from clearhead.training.data import Pairs, prepare
from clearhead.training.files import read_pairs, with_language
from clearhead.training.kept_states import KeptStates
from clearhead.training.processes import Processes
from clearhead.training.recipe import Recipe
from clearhead.training.run_folder import claim, keep, make
from clearhead.training.train import Trainer

__all__ = ["fits", "open_run"]

Model = tuple[Vocabulary, TranslationConfig, Mapping[str, Any]]


def open_run(
    recipe: Recipe,
    folder: Path,
    *,
    device: str = "cpu",
    warm: Model | None = None,
    say: Callable[[str], None] = lambda line: None,
    processes: Processes | None = None,
) -> tuple[Trainer, Vocabulary]:
    """Opens a run: resumes from its newest checkpoint, or starts.

    Args:
        recipe: what to do; ``steps`` may differ from an earlier start, and what else changes no
            weight; all else is the run's own.
        folder: of the run; it is made where it is missing.
        device: "cpu" or "cuda".
        warm: vocabulary, config and weights to start from when there is no checkpoint.
        say: called with one line for each stage.
        processes: who trains along; the first of them reads and writes, and tells the others.

    Returns:
        the trainer, and the vocabulary.

    Raises:
        TrainingError: the folder cannot be written, or its newest checkpoint is damaged.
        ArgumentError: the folder belongs to another recipe, or text is missing.
        ModelError: the recipe's encoder is no BERT-type checkpoint that can be used.
    """
    processes = processes or Processes()
    model, data, state = processes.from_first(lambda: _opened(recipe, folder, warm, say))
    vocabulary, config, weights = model
    kept = None
    if recipe.frozen and config.source:
        for turn in range(2):  # first the process that computes them, then those that find them
            if turn == min(processes.rank, 1):
                kept = KeptStates(folder, data, weights["source"], config.source, device, say)
            processes.wait()
    trainer = Trainer(
        recipe, config, data, weights, vocabulary.pad, folder, device, kept, processes
    )
    if state:
        trainer.restore(state)
        say(f"goes on after step {trainer.step:,} of {recipe.steps:,} ({_name(state)})")
    return trainer, vocabulary


def _name(state: Mapping[str, Any]) -> str:
    return checkpoint.name_at(state["step"])


def _opened(
    recipe: Recipe, folder: Path, warm: Model | None, say: Callable[[str], None]
) -> tuple[Model, Pairs, dict[str, Any] | None]:
    """The model to start with, the text in its pieces, and what the newest checkpoint holds."""
    make(folder)
    claim(recipe, folder)
    found = checkpoint.newest(folder)
    pairs = list(with_language(recipe.pairs))
    if not pairs:
        raise ArgumentError("the recipe names no pairs to train on")
    say(f"{len(pairs):,} pairs read")
    state = checkpoint.read(found) if found else None
    if found and state:
        vocabulary = Vocabulary.read(folder / "vocabulary.json")
        config = TranslationConfig.from_dict(json.loads(state["config"]), str(found))
        weights = nest({name: tensor.numpy() for name, tensor in state["weights"].items()})
    else:
        vocabulary, config, weights = _start(recipe, pairs, warm, say)
        keep(folder / "vocabulary.json", vocabulary.save)
    antecedents = dict(read_pairs(recipe.antecedents)) if recipe.antecedents else {}
    data = prepare(pairs, vocabulary, antecedents=antecedents, slots=recipe.slots, seed=recipe.seed)
    say(f"{len(data.source) + len(data.target):,} pieces in {len(data):,} pairs")
    return (vocabulary, config, weights), data, state


def _start(
    recipe: Recipe,
    pairs: list[tuple[str, str, str]],
    warm: Model | None,
    say: Callable[[str], None],
) -> Model:
    """Vocabulary, config and weights of a run without a checkpoint."""
    if warm:
        say("no checkpoint: starts from the weights of a trained model (--fresh starts anew)")
        config, held = _warm_config(recipe, warm[1]), flatten(warm[2])
        # In the order of a fresh start, whatever order the file had.
        names = [*flatten(random_weights(config)), *(n for n in held if n.startswith("source."))]
        return warm[0], config, nest({name: held[name] for name in names})
    vocabulary = _learn(recipe, pairs, say)
    if recipe.encoder is None:
        config = _config(recipe, vocabulary, None)
        return vocabulary, config, random_weights(config, recipe.seed)
    bert, source = read_checkpoint(Path(recipe.encoder))
    tokenizer = _text_of(Path(recipe.encoder) / "tokenizer.json")
    vocabulary.source = SourcePieces(tokenizer)
    config = _config(recipe, vocabulary, bert)
    return vocabulary, config, {**random_weights(config, recipe.seed), "source": source}


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None


def fits(recipe: Recipe, config: TranslationConfig) -> bool:
    """Whether a model has the sizes and the languages of a recipe, and can be its warm start."""
    sizes = ("width", "heads", "encoder_layers", "decoder_layers")
    same = all(getattr(recipe, name) == getattr(config, name) for name in sizes)
    same = same and (recipe.encoder is None) == (config.source is None)
    return same and set(recipe.pairs) <= set(config.languages)


def _learn(
    recipe: Recipe, pairs: list[tuple[str, str, str]], say: Callable[[str], None]
) -> Vocabulary:
    texts = sorted({pair[0] for pair in pairs}) + [pair[1] for pair in pairs]
    say(f"learning {recipe.vocabulary:,} pieces")
    return Vocabulary.learn(texts, size=recipe.vocabulary, languages=tuple(recipe.pairs))


def _guided(recipe: Recipe) -> tuple[tuple[int, int], ...]:
    layer, head = recipe.guided
    marked = recipe.guide and recipe.antecedents  # without marks nothing pulls at the head
    return ((layer % recipe.encoder_layers, head),) if marked else ()


def _warm_config(recipe: Recipe, config: TranslationConfig) -> TranslationConfig:
    """The model's own config; a head that either training guided was guided."""
    ours = _guided(recipe)
    earlier = tuple(place for place in config.guided if place not in ours)
    return dataclasses.replace(config, guided=(*ours, *earlier))


def _config(recipe: Recipe, vocabulary: Vocabulary, source: BertConfig | None) -> TranslationConfig:
    return TranslationConfig(
        vocabulary=vocabulary.size,
        width=recipe.width,
        heads=recipe.heads,
        encoder_layers=recipe.encoder_layers,
        decoder_layers=recipe.decoder_layers,
        languages=tuple(recipe.pairs),
        guided=_guided(recipe),
        source=source,
    )
