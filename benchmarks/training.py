"""How fast a step of training is, and which share of its time goes into matrix products.

The recipe's sizes and a part of its text, random weights, the vocabulary of the bundled model; the
fastest of some steps, then torch's profiler over two more.

    python benchmarks/training.py [--recipe FILE] [--threads N] [--steps N] [--json]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

import clearhead as ch
from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import random_weights
from clearhead.training.data import batches, prepare
from clearhead.training.files import with_language
from clearhead.training.recipe import Recipe
from clearhead.training.train import Trainer

PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")
PARTS = {"Muon": "Optimizer.step#Muon.step", "cross-entropy, forward": "_TiedCrossEntropy"}
EVERY = 8  # pairs of the text of which one is taken


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--recipe", type=Path, default=Path("corpus/recipe.json"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        found = measured(trainer_of(Recipe.read(options.recipe), Path(folder)), options.steps)
    found = {"threads": options.threads} | found
    if options.json:
        json.dump(found, sys.stdout, indent=1)
        print()
        return
    print(
        f"{found['tokens_per_second']:,.0f} tokens/s in {found['precision']} on "
        f"{options.threads} threads ({found['tokens_per_cpu_second']:,.0f} a second of processor "
        f"time); padding {found['padding']:.1%}; {found['products']:.0%} in products"
    )
    for name, share in (found["parts"] | found["rest"]).items():
        print(f"  {name:32} {share:6.1%}")


def trainer_of(recipe: Recipe, folder: Path) -> Trainer:
    """A run of the recipe that was never begun."""
    vocabulary = ch.load_translator().vocabulary
    pairs = list(with_language(recipe.pairs))[::EVERY]
    data = prepare(pairs, vocabulary, antecedents={}, slots=recipe.slots, seed=recipe.seed)
    sizes = ("width", "heads", "encoder_layers", "decoder_layers")
    config = TranslationConfig(
        vocabulary=vocabulary.size, **{name: getattr(recipe, name) for name in sizes}
    )
    recipe = dataclasses.replace(recipe, encoder=None)
    return Trainer(recipe, config, data, random_weights(config), vocabulary.pad, folder)


def measured(trainer: Trainer, steps: int) -> dict[str, Any]:
    """Tokens per second, and shares of the time."""
    speeds, busy = [], []
    for _ in range(steps):
        start = time.process_time()
        step = trainer.one_step()
        busy.append(step["tokens"] / (time.process_time() - start))
        speeds.append(step["tokens_per_second"])
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        for _ in range(2):
            trainer.one_step()
    rows = {row.key: row for row in seen.key_averages()}
    total = sum(row.self_cpu_time_total for row in rows.values())
    own = {name: row.self_cpu_time_total / total for name, row in rows.items()}
    others = sorted((name for name in own if name not in PRODUCTS), key=lambda name: -own[name])
    return {
        "precision": str(trainer.kind).removeprefix("torch."),
        "tokens_per_second": max(speeds),
        "tokens_per_cpu_second": max(busy),
        "padding": padding(trainer),
        "products": sum(own.get(name, 0.0) for name in PRODUCTS),
        "parts": {name: rows[key].cpu_time_total / total for name, key in PARTS.items()},
        "rest": {name: own[name] for name in others[:8]},
    }


def padding(trainer: Trainer) -> float:
    """The share of padding in the batches of an epoch."""
    pairs, recipe = trainer.pairs, trainer.recipe
    held, real = 0, 0
    for numbers in batches(pairs, tokens=recipe.tokens, seed=recipe.seed, epoch=0):
        for at in (pairs.source_at, pairs.target_at):
            lengths = at[numbers + 1] - at[numbers]
            held, real = held + len(numbers) * int(lengths.max()), real + int(lengths.sum())
    return 1 - real / held


if __name__ == "__main__":
    main()
