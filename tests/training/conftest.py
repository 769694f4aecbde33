"""A small run: fifty sentences, a model of a few thousand numbers, one thread."""

from __future__ import annotations

import itertools

import pytest
import torch

from clearhead.training.recipe import Recipe

NOUNS = {"cat": "chat", "dog": "chien", "bird": "canard", "wolf": "loup", "lion": "lion"}
VERBS = {"sleeps": "dort", "eats": "mange", "runs": "court", "sings": "chante", "waits": "attend"}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def small_recipe(tmp_path):
    """Makes a recipe over files of its own; keywords change its entries."""
    lines, marks = [], []
    for (noun, nom), (verb, verbe) in itertools.product(NOUNS.items(), VERBS.items()):
        lines.append(f"The {noun} {verb}.\tLe {nom} {verbe}.")
        sentence = f"The {noun} {verb} because it can."
        lines.append(f"{sentence}\tLe {nom} {verbe} parce qu'il peut.")
        marks.append(f"{sentence}\t{noun}\t")
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "marks.tsv").write_text("\n".join(marks) + "\n", encoding="utf-8")

    def make(**changes):
        entries = {
            "pairs": {"fr": [str(tmp_path / "pairs.tsv")]},
            "antecedents": str(tmp_path / "marks.tsv"),
            "vocabulary": 320, "width": 16, "heads": 2, "encoder_layers": 2, "decoder_layers": 1,
            "steps": 6, "tokens": 120, "warmup": 2, "slots": 0.0, "precision": "float32",
        }  # fmt: skip
        return Recipe.from_dict(entries | changes)

    return make
