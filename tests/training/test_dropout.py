"""Dropout: the right share, the right scale, and the same numbers for the same seed."""

from __future__ import annotations

import pytest
import torch

from clearhead.training.dropout import dropout


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_keeps_the_mean_and_drops_the_share(kind: torch.dtype) -> None:
    found = dropout(0.25, (1, 2))(torch.ones(200_001, dtype=kind)).float()
    assert abs(float((found == 0).float().mean()) - 0.25) < 0.005
    assert abs(float(found.mean()) - 1) < 0.01


def test_repeats_with_the_same_seed_and_differs_from_call_to_call() -> None:
    x = torch.ones(3, 1000)
    one, other = dropout(0.5, (7, 1)), dropout(0.5, (7, 1))
    first = one(x)
    assert torch.equal(first, other(x))
    assert not torch.equal(first, one(x))
    assert not torch.equal(first, dropout(0.5, (7, 2))(x))


def test_drops_the_gradient_of_what_it_drops() -> None:
    x = torch.ones(1000, requires_grad=True)
    found = dropout(0.5, (0, 0))(x)
    found.sum().backward()
    assert torch.equal(x.grad, found.detach())


def test_share_zero_returns_the_tensor_itself() -> None:
    x = torch.ones(3)
    assert dropout(0.0, (0, 0))(x) is x


def test_rows_of_a_batch_lose_what_they_lose_in_the_whole():
    """So that several processes drop what one would."""
    whole = [torch.ones(7, 5, 3), torch.ones(7, 2, 3)]
    drop = dropout(0.3, (1, 2))
    wanted = [drop(x) for x in whole]
    for rows in (slice(0, 3), slice(3, 7), slice(6, 7)):
        part = dropout(0.3, (1, 2), rows=rows, of=7)
        assert all(torch.equal(part(x[rows]), y[rows]) for x, y in zip(whole, wanted, strict=True))
