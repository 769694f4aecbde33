"""The two losses: smoothed cross-entropy over the tied output, and the pull on a guided head."""

from __future__ import annotations

from typing import Any

import torch

from clearhead.core import steps

__all__ = ["guide_loss", "smoothed_cross_entropy"]

_ROWS = 512  # rows of scores held at once: they stay in the cache, and memory does not grow
_LEAST = 1e-37  # of a probability whose logarithm is told; the gradient knows no such floor


class _TiedCrossEntropy(torch.autograd.Function):
    """Sum over rows of the smoothed cross-entropy of softmax(h Eᵀ), a block of rows at a time.

    With p = softmax(h Eᵀ) and the target q = (1 − ε) onehot + ε / V, the loss is −Σ q ln p and its
    gradient by the scores is p − q: both are made while a block of scores is at hand, so the
    (rows, V) scores never exist as a whole. The even part of q, ε / V, meets all scores alike: it
    is one row of sums for each side, and touches no block.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Any, table: Any, wanted: Any, smoothing: float) -> Any:
        even = smoothing / table.shape[0]
        columns = table.sum(0, dtype=torch.float32)  # (width,) of all pieces
        grad_hidden = torch.empty_like(hidden)
        grad_table = torch.zeros(table.shape, dtype=torch.float32, device=table.device)
        total = torch.zeros((), dtype=torch.float64, device=hidden.device)
        for at in range(0, hidden.shape[0], _ROWS):
            rows, right = hidden[at : at + _ROWS], wanted[at : at + _ROWS]
            each = torch.arange(len(rows), device=rows.device)
            scores = rows @ table.T
            grad = torch.softmax(scores, 1)
            given = grad[each, right]
            likelihood = given.float().clamp_min(_LEAST).log()
            lse = scores[each, right].float() - likelihood
            # −Σ q ln p, where Σ ln p over all pieces is h · Σ E − V lse
            mean = rows.float() @ columns * even - smoothing * lse
            total -= ((1 - smoothing) * likelihood + mean).sum()
            grad[each, right] = given - (1 - smoothing)  # scatter_ would copy all of it, twice
            grad_hidden[at : at + _ROWS] = (grad @ table).float() - even * columns
            grad_table += grad.T @ rows
        grad_table -= even * hidden.sum(0, dtype=torch.float32)
        ctx.save_for_backward(grad_hidden, grad_table)
        ctx.kind = table.dtype
        return total.float()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        grad_hidden, grad_table = ctx.saved_tensors
        return grad_hidden * grads[0], (grad_table * grads[0]).to(ctx.kind), None, None


def smoothed_cross_entropy(hidden: Any, table: Any, wanted: Any, smoothing: float) -> Any:
    """The loss of predicting ``wanted``, summed over its rows.

    Args:
        hidden: (rows, width) what the decoder gave; its gradient has the same kind.
        table: (V, width) the embedding, tied with the output.
        wanted: (rows,) the right pieces.
        smoothing: ε, the share of the target spread over all pieces.

    Returns:
        a float32 scalar.
    """
    return _TiedCrossEntropy.apply(hidden, table, wanted, smoothing)  # type: ignore[no-untyped-call]


def guide_loss(query: Any, key: Any, lengths: Any, guide: Any) -> Any:
    """Pulls a head's weights from "it" to its antecedent: −ln of the weight they get, summed.

    Supervised attention (Liu et al. 2016, "Neural Machine Translation with Supervised Attention";
    Yin et al. 2021 for pronouns).

    Args:
        query: (B, d_k) of the guided head, at "it".
        key: (B, S, d_k) of the guided head.
        lengths: (B,) keys that count.
        guide: (B, 3) the piece of "it", the antecedent's first and last + 1 piece.
    """
    at = torch.arange(key.shape[1], device=key.device)
    visible = (at < lengths[:, None])[:, None, :]
    scores = steps.scores(query[:, None, :].float(), key.float())
    weights = steps.weights(steps.scaled_scores(scores, query.shape[-1] ** -0.5), visible)[:, 0]
    wanted = (at >= guide[:, 1:2]) & (at < guide[:, 2:3])
    given = torch.where(wanted, weights, 0.0).sum(1)
    return -torch.log(given.clamp_min(1e-9)).sum()
