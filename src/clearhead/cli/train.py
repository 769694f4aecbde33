"""``clearhead train``: from text to a translation model, interruptible anywhere."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clearhead.cli.manners import INTERRUPTED, say
from clearhead.cli.training_shown import trained
from clearhead.errors import MissingExtra, ModelError, TrainingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clearhead.training.recipe import Recipe

__all__ = ["command"]


@click.command(
    "train",
    epilog="Example: clearhead train --recipe corpus/recipe.json --run ~/runs/first --threads 1",
)
@click.option(
    "--recipe", "recipe_path", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=Path("corpus/recipe.json"), show_default=True,
    help="What to do, as JSON; its files are found from the current folder.",
)  # fmt: skip
@click.option(
    "--run", "folder", type=click.Path(path_type=Path),
    help="Folder of the run  [default: $XDG_CACHE_HOME/clearhead/run]",
)  # fmt: skip
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--steps", type=click.IntRange(1), help="Steps in all, instead of the recipe's.")
@click.option("--threads", type=click.IntRange(1), help="Threads of torch  [default: all cores]")
@click.option(
    "--every", type=click.FloatRange(1), default=300.0, show_default=True,
    help="Seconds between checkpoints.",
)  # fmt: skip
@click.option(
    "--dev-lines", type=click.IntRange(0), default=200, show_default=True,
    help="Lines of each of the recipe's dev files to translate at a checkpoint; 0 for none.",
)  # fmt: skip
@click.option(
    "--warm/--fresh", default=None,
    help="Without a checkpoint, start from the bundled model, or anew  "
    "[default: --warm where its sizes are the recipe's]",
)  # fmt: skip
@click.option(
    "--from", "source", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Without a checkpoint, start from the weights and the pieces of this model folder.",
)  # fmt: skip
@click.option(
    "--pack", type=click.Path(path_type=Path),
    help="Train no more: write the best checkpoint, or the newest, as a model folder.",
)  # fmt: skip
@click.option(
    "--unaveraged", is_flag=True,
    help="With --pack: the weights of the step itself, where a running average is kept.",
)  # fmt: skip
def command(
    recipe_path: Path,
    folder: Path | None,
    device: str,
    steps: int | None,
    threads: int | None,
    every: float,
    dev_lines: int,
    warm: bool | None,
    source: Path | None,
    pack: Path | None,
    unaveraged: bool,
) -> int:
    """Train a translation model on pairs of sentences, or go on with a run.

    The run keeps its checkpoints in a folder of its own. Ctrl-C and SIGTERM save and end; the same
    command goes on from there, with the numbers it would have had. At the last step the model is
    written to RUN/model, for --model of the other commands. Under torchrun each process takes its
    share of every batch.
    """
    _need_torch()
    import torch

    from clearhead.training.processes import joined
    from clearhead.training.recipe import Recipe
    from clearhead.training.run_folder import default_folder

    folder = folder or default_folder()
    if unaveraged and not pack:
        raise click.UsageError("--unaveraged says what --pack writes; give --pack too")
    if source and warm is not None:
        other = "--warm from the bundled one" if warm else "--fresh from none"
        raise click.UsageError(f"--from starts from a model, {other}; give one of them")
    if pack:
        return _pack(folder, pack, not unaveraged)
    recipe = Recipe.read(recipe_path)
    if steps:
        recipe = dataclasses.replace(recipe, steps=steps)
    if not dev_lines and recipe.patience:
        raise click.UsageError(
            f"the recipe's patience is {recipe.patience} checkpoints without a better score, and "
            "--dev-lines 0 scores none"
        )
    if threads:
        torch.set_num_threads(threads)
    with joined() as processes, contextlib.ExitStack() as stack:
        models: list[Any] = []  # of the first process alone, which tells the others what it opened

        def make_ready() -> None:
            stack.enter_context(_ready(recipe, folder, dev_lines))
            models.append(_warm(recipe, folder, warm, source))

        processes.from_first(make_ready)
        start = models[0] if models else None
        trainer = trained(processes, recipe, folder, _device(device), start, every, dev_lines)
        if not processes.first:
            return INTERRUPTED if trainer.stopped else 0
    if trainer.stopped:
        say(
            f"stopped after step {trainer.step:,} of {recipe.steps:,}, which is saved in {folder}; "
            "the same command goes on"
        )
        return INTERRUPTED
    return _pack(folder, folder / "model", True)


@contextlib.contextmanager
def _ready(recipe: Recipe, folder: Path, dev_lines: int) -> Iterator[None]:
    """Holds the folder of the run; what is needed only at a checkpoint is asked for now."""
    from clearhead.training.evaluation.scores import scorers
    from clearhead.training.files import read_dev
    from clearhead.training.run_folder import sole_user

    with sole_user(folder):
        for to, place in recipe.dev.items() if dev_lines else ():
            scorers()
            read_dev(place, to)
        yield


def _device(wanted: str) -> str:
    """The device of this process: under torchrun each has one of its own."""
    import torch

    if wanted == "cpu":
        return wanted
    number, found = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if number >= found:
        raise click.UsageError(
            f"--device cuda: torch finds {found} CUDA devices here, and this is process {number}, "
            "from 0; use --device cpu, or as many processes as devices"
        )
    torch.cuda.set_device(number)
    return f"cuda:{number}"


def _warm(recipe: Recipe, folder: Path, wanted: bool | None, source: Path | None) -> Any:
    """The model to start from, the bundled one or that of a folder; None where none is needed."""
    from clearhead.model.translator import load_translator
    from clearhead.training import checkpoint
    from clearhead.training.session import fits

    if wanted is False or checkpoint.newest(folder):
        return None
    asked = f"--from {source}" if source else "--warm" if wanted else ""
    try:
        model = load_translator(source)
    except ModelError as error:
        if asked:
            raise click.UsageError(f"{asked}: {error}") from None
        return None
    if fits(recipe, model.config):
        return model.vocabulary, model.config, model.weights
    if asked:
        raise click.UsageError(
            f"{asked}: the model has other sizes or languages than the recipe; --fresh starts anew"
        )
    return None


def _pack(folder: Path, target: Path, averaged: bool) -> int:
    """Writes the best checkpoint where the run looks for it, or else the newest, as a model."""
    from clearhead.training import checkpoint
    from clearhead.training.packing import pack
    from clearhead.training.recipe import Recipe

    found = checkpoint.newest(folder)
    if found is None:
        raise click.UsageError(
            f"run folder {folder} holds no checkpoint; train first, or give --run"
        )
    best = checkpoint.best(folder)
    if best and Recipe.read(folder / "recipe.json").patience:
        found = best
    try:
        pack(found, target, averaged=averaged)
    except ModelError as error:  # a folder that cannot be written; the checkpoint is whole
        raise TrainingError(str(error)) from None
    which = ", which had the best scores," if found is best else ""
    say(f"model of {found.name}{which} written to {target}")
    return 0


def _need_torch() -> None:
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("torch", "train", "training")
