"""From a checkpoint of a run to a model folder: int8 rows, the vocabulary, the card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from clearhead.errors import TrainingError
from clearhead.model.config import TranslationConfig
from clearhead.model.tree import nest
from clearhead.model.vocabulary import Vocabulary
from clearhead.model.weights import save_model
from clearhead.training import checkpoint

__all__ = ["checkpoint_weights", "pack"]


def checkpoint_weights(
    path: Path, *, averaged: bool = True
) -> tuple[TranslationConfig, Any, dict[str, Any]]:
    """The model of a checkpoint.

    Args:
        path: of the checkpoint.
        averaged: whether to take the running average of the weights, where it holds one.

    Returns:
        its config, the tree of float32 NumPy arrays, and what else is known: steps, epoch, seconds.

    Raises:
        TrainingError: the file is damaged, or no checkpoint.
    """
    state = checkpoint.read(path)
    try:
        config = TranslationConfig.from_dict(json.loads(state["config"]), str(path))
        held = state["weights"]
        if averaged and "average" in state:
            held = held | state["average"]["weights"]
        flat = {name: tensor.float().numpy() for name, tensor in held.items()}
        known = {name: state[name] for name in ("step", "epoch", "seconds")}
    except (KeyError, TypeError, AttributeError) as error:
        raise TrainingError(f"{path} is no checkpoint of a run: {error!r} is missing") from None
    return config, nest(flat), known


def pack(
    path: Path, folder: Path, *, card: str | None = None, averaged: bool = True
) -> TranslationConfig:
    """Packs a checkpoint into a model folder, as ``load_translator`` reads it.

    Args:
        path: of the checkpoint; ``vocabulary.json`` lies beside it.
        folder: of the model; it is made where it is missing, and what is there is replaced.
        card: the model card, Markdown; None leaves the one that is there.
        averaged: as in :func:`checkpoint_weights`.

    Returns:
        the config.

    Raises:
        TrainingError: the checkpoint is damaged.
        ModelError: there is no vocabulary beside it, or the folder cannot be written.
    """
    config, weights, known = checkpoint_weights(path, averaged=averaged)
    vocabulary = Vocabulary.read(path.with_name("vocabulary.json"))
    metadata = {name: f"{value:.0f}" for name, value in known.items()}
    save_model(folder, config, vocabulary, weights, card=card, metadata=metadata)
    return config
