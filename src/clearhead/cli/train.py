"""``clearhead train``: from text to a translation model, interruptible anywhere."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from clearhead.cli.manners import INTERRUPTED, say
from clearhead.errors import MissingExtra, ModelError, TrainingError

if TYPE_CHECKING:
    from clearhead.training.recipe import Recipe
    from clearhead.training.train import Trainer

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
    "--pack", type=click.Path(path_type=Path),
    help="Train no more: write the newest checkpoint as a model folder.",
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
    pack: Path | None,
) -> int:
    """Train a translation model on pairs of sentences, or go on with a run.

    The run keeps its checkpoints in a folder of its own. Ctrl-C and SIGTERM save and end; the same
    command goes on from there, with the numbers it would have had. At the last step the model is
    written to RUN/model, for --model of the other commands.
    """
    _need_torch()
    import torch

    from clearhead.training.recipe import Recipe
    from clearhead.training.session import default_folder, open_run, sole_user

    folder = folder or default_folder()
    if pack:
        return _pack(folder, pack)
    recipe = Recipe.read(recipe_path)
    if steps:
        recipe = dataclasses.replace(recipe, steps=steps)
    if device == "cuda" and not torch.cuda.is_available():
        raise click.UsageError("--device cuda: torch finds no CUDA device here; use --device cpu")
    if dev_lines:
        _check_dev(recipe)
    if threads:
        torch.set_num_threads(threads)
    with sole_user(folder):
        start = _warm(recipe, warm)
        trainer, vocabulary = open_run(recipe, folder, device=device, warm=start, say=say)
        _go(trainer, vocabulary, every, dev_lines)
    if trainer.stopped:
        say(
            f"stopped after step {trainer.step:,} of {recipe.steps:,}, which is saved in {folder}; "
            "the same command goes on"
        )
        return INTERRUPTED
    return _pack(folder, folder / "model")


def _go(trainer: Trainer, vocabulary: Any, every: float, dev_lines: int) -> None:
    """Trains with a bar on a terminal, or a line now and then; a log, and scores on the way."""
    from clearhead.training.development import development_scores
    from clearhead.training.progress import RunLog

    log = RunLog(trainer.folder, trainer.step)

    def report(found: dict[str, float]) -> None:
        log.add(found, trainer.seconds)
        shown.step(found)

    def after_checkpoint() -> None:
        scores = development_scores(trainer, vocabulary, dev_lines)
        if scores:
            log.write({"step": trainer.step, "dev": scores})
            told = (f"{to} BLEU {s['bleu']:.1f} chrF {s['chrf']:.1f}" for to, s in scores.items())
            shown.say(f"step {trainer.step:,}: " + ", ".join(told))

    with _Progress(trainer.recipe.steps, trainer.step) as shown:
        trainer.run(every=every, report=report, after_checkpoint=after_checkpoint)
    log.flush(trainer.seconds)


class _Progress:
    """A bar with loss, tokens per second and time left; off a terminal a line every minute."""

    def __init__(self, steps: int, done: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._console = Console(stderr=True)
        self._steps, self._told = steps, time.monotonic()
        self._seconds, self._loss, self._speed = 0.0, 0.0, 0.0
        self._bar = Progress(
            MofNCompleteColumn(), BarColumn(bar_width=None), TextColumn("{task.description}"),
            console=self._console, disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=steps, completed=done)

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._bar.stop()

    def step(self, found: dict[str, float]) -> None:
        """Shows one step; the figures are running means."""
        speed = found["tokens_per_second"]
        new = 1.0 if not self._seconds else 0.05
        self._seconds += new * (found["tokens"] / speed - self._seconds)
        self._loss += new * (found["loss"] - self._loss)
        self._speed += new * (speed - self._speed)
        left = _duration((self._steps - found["step"]) * self._seconds)
        text = f"loss {self._loss:.3f}  {self._speed:,.0f} tokens/s  {left} left"
        if self._console.is_terminal:
            self._bar.update(self._task, completed=int(found["step"]), description=text)
        elif time.monotonic() - self._told > 60 or found["step"] == self._steps:
            self._told = time.monotonic()
            self.say(f"step {found['step']:,} of {self._steps:,}  {text}")

    def say(self, line: str) -> None:
        """Prints a line above the bar."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _check_dev(recipe: Recipe) -> None:
    """Asks now for what is needed only at the first checkpoint."""
    from clearhead.training.evaluate import scorers
    from clearhead.training.files import read_dev

    for to, place in recipe.dev.items():
        scorers()
        read_dev(place, to)


def _warm(recipe: Recipe, wanted: bool | None) -> Any:
    """The bundled model to start from, or None."""
    from clearhead.model.translator import load_translator
    from clearhead.training.session import fits

    if wanted is False:
        return None
    try:
        model = load_translator()
    except ModelError as error:
        if wanted:
            raise click.UsageError(f"--warm: {error}") from None
        return None
    if fits(recipe, model.config):
        return model.vocabulary, model.config, model.weights
    if wanted:
        raise click.UsageError("--warm: the bundled model has other sizes than the recipe")
    return None


def _pack(folder: Path, target: Path) -> int:
    from clearhead.training import checkpoint
    from clearhead.training.packing import pack

    newest = checkpoint.newest(folder)
    if newest is None:
        raise click.UsageError(
            f"run folder {folder} holds no checkpoint; train first, or give --run"
        )
    try:
        pack(newest, target)
    except ModelError as error:  # a folder that cannot be written; the checkpoint is whole
        raise TrainingError(str(error)) from None
    say(f"model of {newest.name} written to {target}")
    return 0


def _need_torch() -> None:
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("torch", "train", "training")


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
