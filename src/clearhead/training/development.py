"""Scores on a development set while a run goes on, so that there are curves to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clearhead.model.translator import Translator
from clearhead.training.evaluation.scores import bleu_chrf
from clearhead.training.evaluation.tables import sample
from clearhead.training.files import read_dev

if TYPE_CHECKING:
    from clearhead.training.train import Trainer

__all__ = ["development_scores"]

_AT_ONCE = 50  # sentences between two looks at whether the run was asked to stop


def development_scores(trainer: Trainer, vocabulary: Any, lines: int) -> dict[str, Any]:
    """BLEU and chrF of greedy translations of an even sample of the recipe's dev files.

    Args:
        trainer: of the run; no number of it changes.
        vocabulary: of the run.
        lines: of each file, at most; 0 scores nothing.

    Returns:
        by language tag ``{"bleu", "chrf", "lines"}``; nothing once the run was asked to stop.
    """
    if not lines or not trainer.recipe.dev:
        return {}
    translator = Translator(trainer.config, vocabulary, trainer.weights(averaged=True))
    found = {}
    for to, place in trainer.recipe.dev.items():
        rows = sample(read_dev(place, to), lines)
        translations: list[str] = []
        for at in range(0, len(rows), _AT_ONCE):
            if trainer.stopped:
                return {}
            texts = [source for source, _ in rows[at : at + _AT_ONCE]]
            translations += [item.text for item in translator.translations(texts, to, beam=1)]
        scores = bleu_chrf(translations, [reference for _, reference in rows])
        found[to] = {"bleu": scores.bleu, "chrf": scores.chrf, "lines": scores.lines}
    return found
