"""Muon does what torch's own does, alone or in a stack, and reads and writes the same state."""

import numpy as np
import pytest
import torch

from clearhead.training.muon import Muon, orthogonal

SHAPES = [(24, 24), (24, 96), (96, 24), (24, 24)]


@pytest.fixture
def parameters():
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator).requires_grad_() for shape in SHAPES]


def torch_s(parameters):
    return torch.optim.Muon(
        parameters, lr=0.01, momentum=0.95, nesterov=True, weight_decay=0.0,
        adjust_lr_fn="match_rms_adamw",
    )  # fmt: skip


def steps(optimiser, parameters, seeds):
    for seed in seeds:
        generator = torch.Generator().manual_seed(seed)
        for p in parameters:
            p.grad = torch.randn(p.shape, generator=generator)
        optimiser.step()


def copies(parameters):
    return [p.detach().clone().requires_grad_() for p in parameters]


@pytest.mark.parametrize("shape", [(24, 96), (96, 24), (1, 8)])
def test_singular_values_come_near_one(shape):
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((3, *shape)))
    values = torch.linalg.svdvals(orthogonal(x).double())
    assert 0.4 < float(values.min()) < float(values.max()) < 1.4


def test_a_gradient_of_zeros_moves_nothing():
    assert not orthogonal(torch.zeros(1, 3, 4)).any()


def test_its_steps_are_those_of_torch(parameters):
    ours, theirs = copies(parameters), copies(parameters)
    steps(Muon(ours, 0.01), ours, range(4))
    steps(torch_s(theirs), theirs, range(4))
    for before, one, two in zip(parameters, ours, theirs, strict=True):
        moved = float((two - before).detach().norm())
        assert float((one - two).detach().norm()) < 0.01 * moved


@pytest.mark.parametrize("ours_first", [True, False])
def test_either_goes_on_with_the_other_s_state(parameters, ours_first):
    def ours(held):
        return Muon(held, 0.01)

    straight, apart = copies(parameters), copies(parameters)
    steps(torch_s(straight), straight, range(4))
    one, two = (ours, torch_s) if ours_first else (torch_s, ours)
    first = one(apart)
    steps(first, apart, range(2))
    second = two(apart)
    second.load_state_dict(first.state_dict())
    steps(second, apart, range(2, 4))
    for before, a, b in zip(parameters, straight, apart, strict=True):
        assert float((a - b).detach().norm()) < 0.01 * float((a - before).detach().norm())


def test_a_weight_without_a_gradient_stays(parameters):
    optimiser = Muon(parameters, 0.01)
    before = copies(parameters)
    parameters[0].grad = torch.ones_like(parameters[0])
    optimiser.step()
    assert not torch.equal(parameters[0], before[0])
    assert all(torch.equal(p, b) for p, b in zip(parameters[1:], before[1:], strict=True))


class Others:
    """Two processes of which one is looked at; the other one's part arrives with the sum."""

    def __init__(self, rank, size=2):
        self.rank, self.size, self.given = rank, size, []

    def share(self, count):
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def add(self, tensors):
        self.given += [t.clone() for t in tensors]


def test_several_processes_make_a_share_each_and_all_together_all(parameters):
    stacks = [torch.stack([p.detach() for p in parameters if tuple(p.shape) == (24, 24)])]
    stacks.append(parameters[1].detach()[None])  # one matrix: the first process has none of it
    for stack in stacks:
        parts = []
        for rank in range(2):
            others = Others(rank)
            Muon(parameters, 0.01, others)._updates(stack)
            parts.append(others.given[0])
        assert torch.equal(sum(parts), orthogonal(stack).float())
