"""What a batch asks of the weights: cross-entropy of the target, and the pull on a guided head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from clearhead.layer.linear import linear
from clearhead.layer.norm import layer_norm
from clearhead.model import translation
from clearhead.model.config import TranslationConfig
from clearhead.training.data import Batch
from clearhead.training.loss import guide_loss, smoothed_cross_entropy

__all__ = ["Counts", "Objective"]


@dataclass(frozen=True)
class Counts:
    """What the two sums of a batch are divided by.

    Attributes:
        words: target pieces to predict, over the whole batch.
        guided: sentences in which a head is guided.
    """

    words: int
    guided: int


@dataclass(frozen=True)
class Objective:
    """The losses of a batch, by the forward pass of :mod:`clearhead.model.translation` itself.

    Attributes:
        config: the model's sizes, and which head is guided.
        smoothing: of the labels.
        guide: the weight of the guided head's loss; 0 guides none.
    """

    config: TranslationConfig
    smoothing: float
    guide: float

    def counts(self, batch: Batch) -> Counts:
        """Counts a whole batch, whoever reads which part of it."""
        guides = self.guide and self.config.guided
        guided = int((batch.guide[:, 0] >= 0).sum()) if guides else 0
        return Counts(int(batch.target_lengths.sum()), guided)

    def total(self, loss: Any, pull: Any, counts: Counts) -> Any:
        """What a step descends: the sums of a batch, or of a part, over the whole's counts."""
        return loss / counts.words + self.guide * pull / max(counts.guided, 1)

    def __call__(
        self,
        weights: Mapping[str, Any],
        batch: Batch,
        *,
        read: Any = None,
        drop: Any = translation.whole,
    ) -> tuple[Any, Any]:
        """The two sums over the batch: cross-entropy, and the guided head's.

        Args:
            weights: the tree, in the kind in which products are made.
            batch: NumPy arrays.
            read: states of a frozen encoder, (B, S, 3 · width).
            drop: dropout.

        Returns:
            two float32 scalars with a gradient.
        """
        table = weights["embedding"]
        source = torch.from_numpy(batch.source).to(table.device)
        lengths = torch.from_numpy(batch.source_lengths)  # masks are described on the CPU
        target = torch.from_numpy(batch.target).to(table.device)
        with _rounding(table):
            states = translation.encode_states(weights, self.config, source, lengths, read, drop)
            hidden = translation.decode(
                weights, self.config, target[:, :-1], states[-1], lengths, drop=drop
            )
        ends = torch.from_numpy(batch.target_lengths).to(table.device)
        real = torch.arange(target.shape[1] - 1, device=table.device) < ends[:, None]
        loss = smoothed_cross_entropy(hidden[real], table, target[:, 1:][real], self.smoothing)
        return loss, self._pull(weights, states, lengths, batch.guide)

    def _pull(self, weights: Any, states: Any, lengths: Any, guide: Any) -> Any:
        """The guided head's loss, from what enters its layer."""
        device = states[0].device
        marked = np.flatnonzero(guide[:, 0] >= 0)
        if not self.guide or not len(marked) or not self.config.guided:
            return torch.zeros((), device=device)
        number, head = self.config.guided[0]
        layer = weights["encoder"][number]
        rows = torch.from_numpy(marked).to(device)
        where = torch.from_numpy(guide[marked].astype(np.int64)).to(device)
        x = layer_norm(states[number][rows], layer["norm_attention"])
        d = self.config.width // self.config.heads
        columns = slice(head * d, (head + 1) * d)
        at_it = x[torch.arange(len(rows), device=device), where[:, 0]]
        query = linear(at_it, layer["attention"]["w_q"][:, columns])
        key = linear(x, layer["attention"]["w_k"][:, columns])
        return guide_loss(query, key, lengths.to(device)[rows], where)


def _rounding(like: Any) -> Any:
    """Lets the scores of attention round to bfloat16 as all other products here do."""
    wanted = like.dtype == torch.bfloat16 and like.device.type == "cpu"
    return torch.autocast("cpu", torch.bfloat16, enabled=wanted)
