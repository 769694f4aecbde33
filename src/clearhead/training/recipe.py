"""The recipe: everything that decides what a training run does, in one readable place."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from clearhead.errors import TrainingError

__all__ = ["Recipe"]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What a run does; it is kept beside the checkpoints and in the model card.

    Attributes:
        pairs: TSV(.gz) files of "source TAB target", by language tag.
        dev: TSV(.gz) files with a header line, by language tag, for evaluation while training.
        antecedents: TSV(.gz) of "sentence TAB noun that 'it' stands for", for the guided head.
        vocabulary: pieces to learn, source and targets together.
        width, heads, encoder_layers, decoder_layers: the model's sizes.
        steps: optimiser steps of the whole run; may be changed when a run is resumed.
        tokens: source and target tokens a batch, padding included.
        rate: peak learning rate, of both optimisers.
        warmup: steps in which the rate grows from zero.
        decay: share of the run, at its end, in which the rate falls to ``floor`` of its peak.
        floor: see ``decay``.
        smoothing: label smoothing (Szegedy et al. 2016).
        clip: largest norm of the whole gradient.
        guide: weight of the guided head's loss; 0 guides no head.
        guided: (layer, head) of the encoder to guide, from 0; −1 is the last layer.
        slots: share of the pairs with a shared name in which it becomes a slot.
        precision: "auto" (bfloat16 where its products are faster here), "float32", "bfloat16".
        seed: of the weights and of the order of the batches.
    """

    pairs: dict[str, list[str]]
    dev: dict[str, str] = dataclasses.field(default_factory=dict)
    antecedents: str | None = None
    vocabulary: int = 10_000
    width: int = 384
    heads: int = 6
    encoder_layers: int = 4
    decoder_layers: int = 3
    steps: int = 6_000
    tokens: int = 6_000
    rate: float = 2e-3
    warmup: int = 200
    decay: float = 0.4
    floor: float = 0.02
    smoothing: float = 0.1
    clip: float = 1.0
    guide: float = 0.3
    guided: tuple[int, int] = (-1, 0)
    slots: float = 0.15
    precision: str = "auto"
    seed: int = 0

    def rate_at(self, step: int) -> float:
        """The learning rate of a step: up, level, and down in a straight line at the end."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        falls = max(1.0, self.decay * self.steps)
        left = min(1.0, max(0.0, (self.steps - step) / falls))
        return self.rate * (self.floor + (1 - self.floor) * left)

    def write(self, path: Path) -> None:
        """Writes the recipe as JSON."""
        path.write_text(json.dumps(dataclasses.asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Recipe:
        """Reads a recipe from JSON.

        Raises:
            TrainingError: the file cannot be read, or has entries that are not known.
        """
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise TrainingError(f"recipe {path} cannot be read: {error}") from error

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Recipe:
        """Makes a recipe of a dictionary, as it came from JSON."""
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(found) - known):
            raise TrainingError(f"the recipe has entries this version does not know: {unknown}")
        try:
            recipe = cls(**found)
        except TypeError as error:
            raise TrainingError(f"the recipe is not complete: {error}") from error
        first, second = recipe.guided
        return dataclasses.replace(recipe, guided=(int(first), int(second)))
