"""Every weight has one optimiser, and each group its rate."""

import torch

from clearhead.training.muon import Muon
from clearhead.training.optimisers import make_optimisers, of_source, set_rate
from clearhead.training.recipe import Recipe


def test_matrices_are_muon_s_and_a_trained_encoder_has_a_rate_of_its_own():
    shapes = {"embedding": (9, 4), "encoder.0.w": (4, 4), "encoder_norm": (4,), "source.w": (4, 4)}
    weights = {name: torch.zeros(shape).requires_grad_() for name, shape in shapes.items()}
    recipe = Recipe({"fr": ["pairs.tsv"]}, encoder_rate=0.5)
    optimisers = make_optimisers(weights, recipe)
    assert isinstance(optimisers[0], Muon)
    held = [[id(p) for p in group["params"]] for o in optimisers for group in o.param_groups]
    names = ["encoder.0.w"], ["embedding", "encoder_norm"], ["source.w"]
    assert held == [[id(weights[name]) for name in group] for group in names]
    set_rate(optimisers, 0.1)
    assert [group["lr"] for o in optimisers for group in o.param_groups] == [0.1, 0.1, 0.05]
    assert of_source("source.w")
    assert not of_source("embedding")
