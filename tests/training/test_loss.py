"""The losses against torch's own, written plainly."""

import pytest
import torch

from clearhead.training.loss import guide_loss, smoothed_cross_entropy


@pytest.mark.parametrize("rows", [1, 511, 512, 1100])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_and_its_gradients_are_autograd_s(rows, smoothing):
    torch.manual_seed(0)
    hidden, table = torch.randn(rows, 8), torch.randn(50, 8)
    wanted = torch.randint(0, 50, (rows,))
    ours = [x.clone().requires_grad_() for x in (hidden, table)]
    plain = [x.double().requires_grad_() for x in (hidden, table)]
    found = smoothed_cross_entropy(*ours, wanted, smoothing)
    right = torch.nn.functional.cross_entropy(
        plain[0] @ plain[1].T, wanted, reduction="sum", label_smoothing=smoothing
    )
    (3 * found).backward()  # not 1: the factor must reach the gradients
    (3 * right).backward()
    assert found.item() == pytest.approx(right.item(), rel=1e-6)
    for mine, theirs in zip(ours, plain, strict=True):
        assert torch.allclose(mine.grad.double(), theirs.grad, rtol=1e-4, atol=1e-4)


def test_cross_entropy_in_bfloat16_is_near():
    torch.manual_seed(0)
    hidden, table = torch.randn(40, 16), torch.randn(30, 16) / 4
    wanted = torch.randint(0, 30, (40,))
    half = [x.bfloat16().requires_grad_() for x in (hidden, table)]
    full = [x.detach().float().requires_grad_() for x in half]
    found = smoothed_cross_entropy(*half, wanted, 0.1)
    right = smoothed_cross_entropy(*full, wanted, 0.1)
    found.backward()
    right.backward()
    assert found.dtype == torch.float32
    assert found.item() == pytest.approx(right.item(), rel=1e-2)
    assert half[0].grad.dtype == half[1].grad.dtype == torch.bfloat16
    assert torch.allclose(half[0].grad.float(), full[0].grad, atol=2e-2)


def plain_guide_loss(query, key, lengths, guide):
    total = 0.0
    for b in range(len(query)):
        scores = key[b, : lengths[b]] @ query[b] / query.shape[1] ** 0.5
        weights = torch.softmax(scores, 0)
        total = total - torch.log(weights[guide[b, 1] : guide[b, 2]].sum())
    return total


def test_guide_loss_and_its_gradients_are_autograd_s():
    torch.manual_seed(0)
    query, key = torch.randn(3, 4), torch.randn(3, 7, 4)
    lengths, guide = torch.tensor([7, 4, 5]), torch.tensor([[6, 0, 1], [3, 1, 3], [0, 2, 5]])
    ours = [x.clone().requires_grad_() for x in (query, key)]
    plain = [x.double().requires_grad_() for x in (query, key)]
    found, right = guide_loss(*ours, lengths, guide), plain_guide_loss(*plain, lengths, guide)
    found.backward()
    right.backward()
    assert found.item() == pytest.approx(right.item(), rel=1e-5)
    for mine, theirs in zip(ours, plain, strict=True):
        assert torch.allclose(mine.grad.double(), theirs.grad, atol=1e-5)


def test_padding_has_no_part_in_the_guide_loss():
    query, key = torch.randn(1, 4), torch.randn(1, 6, 4)
    lengths, guide = torch.tensor([3]), torch.tensor([[2, 0, 1]])
    spoilt = key.clone()
    spoilt[:, 3:] = float("nan")
    assert guide_loss(query, spoilt, lengths, guide) == guide_loss(query, key, lengths, guide)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_a_piece_that_is_all_but_impossible_has_a_finite_loss_and_its_gradient(kind):
    hidden = torch.tensor([[100.0, 0.0]], dtype=kind).requires_grad_()
    table = torch.tensor([[2.0, 0.0], [0.0, 2.0]], dtype=kind)
    found = smoothed_cross_entropy(hidden, table, torch.tensor([1]), 0.0)
    found.backward()
    assert 80 < found.item() < torch.inf
    assert hidden.grad.tolist() == [[2.0, -2.0]]
