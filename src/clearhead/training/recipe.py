"""The recipe: everything that decides what a training run does, in one readable place."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from clearhead.errors import ArgumentError

__all__ = ["Recipe"]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What a run does; it is kept beside the checkpoints and in the model card.

    Attributes:
        pairs: where the text is, by language tag: "FILE" is a TSV(.gz) of "source TAB target",
            "FILE#SOURCE,TARGET" has a header line that names these two of its columns, and
            ["FILE", "FILE"] are two text files side by side.
        dev: the same, one for each language tag, for evaluation while training; a "FILE" has a
            header line with "en" and the tag. They change no weight, and may be changed when a run
            is resumed.
        antecedents: TSV(.gz) of "sentence TAB noun that 'it' stands for", for the guided head.
        vocabulary: pieces to learn, source and targets together.
        width, heads, encoder_layers, decoder_layers: the model's sizes.
        steps: optimiser steps of the whole run; may be changed when a run is resumed.
        tokens: of a batch, at most: its pairs times the pieces of the longest, both sides counted.
        rate: peak learning rate, of both optimisers.
        warmup: steps in which the rate grows from zero.
        decay: share of the run, at its end, in which the rate falls to ``floor`` of its peak.
        floor: see ``decay``.
        dropout: share of the numbers set to zero in what enters the first layers and in what every
            sub-layer adds (Srivastava et al. 2014).
        smoothing: label smoothing (Szegedy et al. 2016).
        clip: largest norm of the whole gradient.
        guide: weight of the guided head's loss; 0 guides no head.
        guided: (layer, head) of the encoder to guide, from 0; −1 is the last layer.
        slots: share of the pairs with a shared name in which it becomes a slot.
        encoder: folder of a BERT-type checkpoint that reads the source first; None for none.
        encoder_mode: "frozen" (its states are computed once and kept on disk) or "trained" along.
        encoder_rate: share of the learning rate at which it is trained along, by AdamW.
        average: steps over which the weights are averaged, exponentially; the average is what is
            scored and packed. 0 for none. May be changed when a run is resumed.
        patience: checkpoints in a row without a better score on ``dev`` after which the run ends
            and its best one is packed; 0 trains to the last step. May be changed likewise.
        precision: "auto" (bfloat16 where its products are faster here), "float32", "bfloat16".
        seed: of the weights and of the order of the batches.
    """

    pairs: dict[str, list[str | list[str]]]
    dev: dict[str, str | list[str]] = dataclasses.field(default_factory=dict)
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
    dropout: float = 0.0
    smoothing: float = 0.1
    clip: float = 1.0
    guide: float = 0.3
    guided: tuple[int, int] = (-1, 0)
    slots: float = 0.15
    encoder: str | None = None
    encoder_mode: str = "frozen"
    encoder_rate: float = 0.02
    average: int = 0
    patience: int = 0
    precision: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuses what cannot be meant, and names the entry."""
        for name in ("vocabulary", "width", "heads", "encoder_layers", "decoder_layers", "steps"):
            _whole(self, name, 1)
        if self.width % self.heads or self.width % 2:
            raise ArgumentError(
                f"the recipe's width is {self.width} and its heads are {self.heads}; wanted an "
                "even width that is a multiple of the heads"
            )
        for name in ("tokens", "warmup", "average", "patience", "seed"):
            _whole(self, name, 0)
        for name in ("decay", "floor", "smoothing", "slots", "encoder_rate"):
            _number(self, name, 1.0)
        _number(self, "dropout", 0.9)
        for name in ("rate", "clip", "guide"):
            _number(self, name, 1e6)
        _files("pairs", self.pairs)
        _files("dev", self.dev)
        if strange := sorted(set(self.dev) - set(self.pairs)):
            raise _odd("dev", strange, f"languages of pairs, {', '.join(self.pairs)}")
        if self.patience and not self.dev:
            raise _odd("patience", self.patience, "0 where dev names no files to score")
        if self.antecedents is not None and not isinstance(self.antecedents, str):
            raise _odd("antecedents", self.antecedents, "the name of a file")
        if self.encoder is not None and not isinstance(self.encoder, str):
            raise _odd("encoder", self.encoder, "the name of a folder")
        if self.encoder_mode not in ("frozen", "trained"):
            raise _odd("encoder_mode", self.encoder_mode, "'frozen' or 'trained'")
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise _odd("precision", self.precision, "'auto', 'float32' or 'bfloat16'")
        object.__setattr__(self, "guided", _place(self))

    @property
    def frozen(self) -> bool:
        """Whether an encoder reads the source first, and is not trained."""
        return self.encoder is not None and self.encoder_mode == "frozen"

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
            ArgumentError: the file cannot be read, or has entries that are not known.
        """
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            raise ArgumentError(f"recipe {path} cannot be read: {error}") from error

    @classmethod
    def from_dict(cls, found: Any) -> Recipe:
        """Makes a recipe of a dictionary, as it came from JSON.

        Raises:
            ArgumentError: an entry is not known, or has a value that cannot be meant.

        Example:
            >>> Recipe.from_dict({"pairs": {"fr": ["pairs.tsv"]}, "steps": 10}).rate_at(0)
            1e-05
        """
        if not isinstance(found, dict):
            raise ArgumentError(f"the recipe is a {type(found).__name__}; wanted a JSON object")
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(found) - known):
            raise ArgumentError(f"the recipe has entries this version does not know: {unknown}")
        if "pairs" not in found:
            raise ArgumentError("the recipe names no pairs to train on")
        return cls(**found)


def _odd(name: str, found: Any, wanted: str) -> ArgumentError:
    return ArgumentError(f"the recipe's {name} is {found!r}; wanted {wanted}")


def _whole(recipe: Recipe, name: str, least: int) -> None:
    found = getattr(recipe, name)
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found < 2**31:
        raise _odd(name, found, f"a whole number of at least {least}")


def _number(recipe: Recipe, name: str, most: float) -> None:
    found = getattr(recipe, name)
    if not isinstance(found, int | float) or isinstance(found, bool) or not 0 <= found <= most:
        raise _odd(name, found, f"a number from 0 to {most:g}")


def _files(name: str, found: Any) -> None:
    """A file, or two side by side, for each language tag; of pairs a list of them."""
    fits = isinstance(found, dict)
    for item in found.values() if fits else ():
        if name == "pairs":
            fits = fits and isinstance(item, list) and all(_is_place(place) for place in item)
        else:
            fits = fits and _is_place(item)
    if not fits:
        wanted = "lists of files by language tag" if name == "pairs" else "files by language tag"
        raise _odd(name, found, f'{wanted}, each "FILE", "FILE#SOURCE,TARGET" or ["FILE", "FILE"]')


def _is_place(found: Any) -> bool:
    two = isinstance(found, list) and len(found) == 2 and all(isinstance(p, str) for p in found)
    return isinstance(found, str) or two


def _place(recipe: Recipe) -> tuple[int, int]:
    """The guided head as (layer, head), where the model has such a head."""
    found: Any = recipe.guided
    if isinstance(found, list | tuple) and len(found) == 2 and all(type(i) is int for i in found):
        layer, head = found
        layers, heads = recipe.encoder_layers, recipe.heads
        if -layers <= layer < layers and 0 <= head < heads:
            return (layer, head)
    raise _odd("guided", found, "[layer, head] of the encoder")
