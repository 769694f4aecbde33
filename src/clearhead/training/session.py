"""A training run from its recipe: text, vocabulary, weights, and where an earlier one left off."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from clearhead.errors import ArgumentError, ModelError, TrainingError
from clearhead.model.bert import BertConfig
from clearhead.model.checkpoint_folder import read_checkpoint
from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import random_weights
from clearhead.model.source import SourcePieces
from clearhead.model.tree import flatten, nest
from clearhead.model.vocabulary import Vocabulary
from clearhead.training import checkpoint
from clearhead.training.data import prepare
from clearhead.training.files import read_pairs, with_language
from clearhead.training.kept_states import KeptStates
from clearhead.training.recipe import Recipe
from clearhead.training.train import Trainer

__all__ = ["default_folder", "fits", "open_run", "sole_user"]

Model = tuple[Vocabulary, TranslationConfig, Mapping[str, Any]]


def default_folder() -> Path:
    """Where runs live unless told otherwise: ``$XDG_CACHE_HOME/clearhead/run``."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "clearhead" / "run"


def open_run(
    recipe: Recipe,
    folder: Path,
    *,
    device: str = "cpu",
    warm: Model | None = None,
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
        TrainingError: the folder cannot be written, or its newest checkpoint is damaged.
        ArgumentError: the folder belongs to another recipe, or text is missing.
        ModelError: the recipe's encoder is no BERT-type checkpoint that can be used.
    """
    _make(folder)
    _claim(recipe, folder)
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
        _keep(folder / "vocabulary.json", vocabulary.save)
    antecedents = dict(read_pairs(recipe.antecedents)) if recipe.antecedents else {}
    data = prepare(pairs, vocabulary, antecedents=antecedents, slots=recipe.slots, seed=recipe.seed)
    say(f"{len(data.source) + len(data.target):,} pieces in {len(data):,} pairs")
    kept = None
    if recipe.frozen and config.source:
        kept = KeptStates(folder, data, weights["source"], config.source, device, say)
    trainer = Trainer(recipe, config, data, weights, vocabulary.pad, folder, device, kept)
    if found and state:
        trainer.restore(state)
        say(f"goes on after step {trainer.step:,} of {recipe.steps:,} ({found.name})")
    return trainer, vocabulary


def _start(
    recipe: Recipe,
    pairs: list[tuple[str, str, str]],
    warm: Model | None,
    say: Callable[[str], None],
) -> Model:
    """Vocabulary, config and weights of a run without a checkpoint."""
    if warm:
        say("no checkpoint: starts from the weights of the bundled model (--fresh starts anew)")
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


@contextlib.contextmanager
def sole_user(folder: Path) -> Iterator[None]:
    """Holds a run folder for this process: two trainings in one would spoil each other's files.

    Raises:
        TrainingError: another process trains there, or the folder cannot be written.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    _make(folder)
    try:
        with (folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except BlockingIOError:
        raise TrainingError(
            f"run folder {folder} is in use by another process; wait for its end, or give another "
            "folder with --run"
        ) from None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainingError(
            f"run folder {folder} cannot be written ({error}); give another one with --run"
        ) from error


def _keep(path: Path, write: Callable[[Path], None]) -> None:
    """Writes a file of the run beside, and renames it."""
    beside = path.with_suffix(".part")
    try:
        write(beside)
        beside.replace(path)
    except OSError as error:
        raise TrainingError(
            f"{path} cannot be written ({error}); free some space, or give another folder with "
            "--run"
        ) from error


def _claim(recipe: Recipe, folder: Path) -> None:
    """Keeps the recipe beside the checkpoints, and refuses a folder that belongs to another."""
    path = folder / "recipe.json"
    if path.exists():
        before = Recipe.read(path)
        free = {name: getattr(recipe, name) for name in ("steps", "decay", "dev")}
        same = dataclasses.replace(before, **free)
        if same != recipe and checkpoint.newest(folder):
            differing = [
                field.name
                for field in dataclasses.fields(Recipe)
                if getattr(same, field.name) != getattr(recipe, field.name)
            ]
            raise ArgumentError(
                f"run folder {folder} holds a run with another recipe ({', '.join(differing)} "
                "differ); give another folder with --run, or the recipe it was started with"
            )
    _keep(path, recipe.write)


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
