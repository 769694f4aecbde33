"""A training run as it is seen: a bar or lines, a log, and scores at its checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.cli.bar import Bar
from clearhead.cli.manners import say

if TYPE_CHECKING:
    from clearhead.training.processes import Processes
    from clearhead.training.recipe import Recipe
    from clearhead.training.train import Trainer

__all__ = ["trained"]


def trained(
    processes: Processes,
    recipe: Recipe,
    folder: Path,
    device: str,
    start: Any,
    every: float,
    dev_lines: int,
) -> Trainer:
    """Opens the run and trains; the first process shows it, logs it and scores it on the way.

    Args:
        processes: who trains along.
        recipe, folder: of the run.
        device: of this process.
        start: vocabulary, config and weights to start from where there is no checkpoint, or None.
        every: seconds between checkpoints.
        dev_lines: lines of each dev file that are translated at a checkpoint.
    """
    from clearhead.training.session import open_run

    tell = say if processes.first else _nothing
    trainer, vocabulary = open_run(
        recipe, folder, device=device, warm=start, say=tell, processes=processes
    )
    if processes.first:
        _go(trainer, vocabulary, every, dev_lines)
    else:
        trainer.run()
    return trainer


def _go(trainer: Trainer, vocabulary: Any, every: float, dev_lines: int) -> None:
    """Trains with a bar on a terminal, or a line now and then; a log, and scores on the way."""
    from clearhead.training.checkpoint import keep_best, name_at
    from clearhead.training.development import development_scores
    from clearhead.training.patience import Patience
    from clearhead.training.progress import RunLog

    log = RunLog(trainer.folder, trainer.step)
    patience = Patience(trainer.recipe.patience, log.rows())

    def report(found: dict[str, float]) -> None:
        log.add(found, trainer.seconds)
        shown.step(found)

    def after_checkpoint() -> None:
        scores = development_scores(trainer, vocabulary, dev_lines)
        if not scores:
            return
        log.write({"step": trainer.step, "dev": scores})
        told = (f"{to} BLEU {s['bleu']:.1f} chrF {s['chrf']:.1f}" for to, s in scores.items())
        shown.say(f"step {trainer.step:,}: " + ", ".join(told))
        if patience.better(trainer.step, scores) and trainer.recipe.patience:
            keep_best(trainer.folder / name_at(trainer.step))
        end_if_spent()

    def end_if_spent() -> None:
        if patience.spent:
            shown.say(
                f"no better score in {patience.waited} checkpoints since step {patience.step:,} "
                f"(mean BLEU {patience.best:.1f}): ends early"
            )
            trainer.enough()

    with Bar(trainer.recipe.steps, trainer.step) as shown:
        end_if_spent()  # a run that ended so before
        trainer.run(every=every, report=report, after_checkpoint=after_checkpoint)
    log.flush(trainer.seconds)


def _nothing(line: str) -> None:
    """Says nothing: the first process speaks for all."""
