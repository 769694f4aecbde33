"""The training loop: batches in, checkpoints out; it can be paused, ended and resumed anywhere."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from clearhead.errors import TrainingError
from clearhead.layer.linear import linear
from clearhead.layer.norm import layer_norm
from clearhead.model import translation
from clearhead.model.config import TranslationConfig
from clearhead.model.tree import flatten, nest
from clearhead.training import checkpoint
from clearhead.training.data import Batch, Pairs, batches, collate
from clearhead.training.dropout import dropout
from clearhead.training.kept_states import KeptStates
from clearhead.training.loss import guide_loss, smoothed_cross_entropy
from clearhead.training.recipe import Recipe

__all__ = ["Trainer"]


class Trainer:
    """One run: the weights, the two optimisers and where in the data it stands.

    Matrices are trained by Muon (Jordan et al. 2024), the embedding and the norms by AdamW. The
    forward pass is :mod:`clearhead.model.translation` itself.

    Args:
        recipe: what to do.
        config: the model's sizes.
        pairs: the training text in pieces.
        weights: where to start, a tree of NumPy arrays; the order of its entries is the order of
            the parameters in the optimisers, and must be the same when a run is resumed.
        pad: the padding piece.
        folder: of the run, for checkpoints and ``log.jsonl``.
        device: "cpu" or "cuda".
        kept: states of a frozen encoder, where the recipe has one.
    """

    def __init__(
        self,
        recipe: Recipe,
        config: TranslationConfig,
        pairs: Pairs,
        weights: Mapping[str, Any],
        pad: int,
        folder: Path,
        device: str = "cpu",
        kept: KeptStates | None = None,
    ) -> None:
        self.recipe, self.config, self.pairs, self.pad = recipe, config, pairs, pad
        self.folder, self.device, self.kept = folder, torch.device(device), kept
        flat = flatten(weights)
        self.frozen = {n: leaf for n, leaf in flat.items() if recipe.frozen and _of_source(n)}
        self.parameters = {
            name: torch.tensor(leaf, device=self.device).requires_grad_()
            for name, leaf in flat.items()
            if name not in self.frozen
        }
        self.kind = _kind(recipe.precision, self.device)
        matrices = [p for n, p in self.parameters.items() if _by_muon(n, p)]
        others = [p for n, p in self.parameters.items() if not _by_muon(n, p) and not _of_source(n)]
        groups: list[dict[str, Any]] = [{"params": others}]
        if slow := [p for n, p in self.parameters.items() if _of_source(n)]:
            groups.append({"params": slow, "share": recipe.encoder_rate})
        self.optimisers: tuple[Any, ...] = (
            torch.optim.Muon(
                matrices, lr=recipe.rate, momentum=0.95, nesterov=True, weight_decay=0.0,
                adjust_lr_fn="match_rms_adamw",
            ),
            torch.optim.AdamW(
                groups, lr=recipe.rate, betas=(0.9, 0.98), weight_decay=0.0,
                fused=self.device.type == "cpu",
            ),
        )  # fmt: skip
        self.step, self.epoch, self.at = 0, 0, 0
        self.seconds = 0.0
        self._stop, self._was_paused, self._usual = False, False, 0.0
        self._order: list[Any] = []
        self._order_of = -1

    def run(
        self,
        *,
        every: float = 300.0,
        report: Callable[[dict[str, float]], None] = lambda found: None,
        after_checkpoint: Callable[[], None] = lambda: None,
    ) -> None:
        """Trains until the recipe's last step, or until Ctrl-C or SIGTERM; saves either way.

        Args:
            every: seconds between checkpoints.
            report: called after every step with loss, rate and tokens per second.
            after_checkpoint: called after each checkpoint, to evaluate for example.
        """
        handlers = {s: signal.signal(s, self._ask_to_stop) for s in (signal.SIGINT, signal.SIGTERM)}
        if hasattr(signal, "SIGCONT"):  # not on Windows
            handlers[signal.SIGCONT] = signal.signal(signal.SIGCONT, self._note_pause)
        saved = time.monotonic()
        try:
            while self.step < self.recipe.steps and not self._stop:
                report(self.one_step())
                if time.monotonic() - saved > every:
                    self.save()
                    after_checkpoint()
                    saved = time.monotonic()
            self.save()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    @property
    def stopped(self) -> bool:
        """Whether a signal ended the run before its last step."""
        return self._stop

    def one_step(self) -> dict[str, float]:
        """One batch: forward, backward, both optimisers; what to report of it."""
        start = time.perf_counter()
        batch = self._next_batch()
        rate = self.recipe.rate_at(self.step)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate * group.get("share", 1.0)
        loss, pull, guided = self.losses(batch)
        words = int(batch.target_lengths.sum())
        total = loss / words + self.recipe.guide * pull / max(guided, 1)
        total.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.parameters.values(), self.recipe.clip)
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.step += 1
        took = time.perf_counter() - start
        if self._was_paused:  # the clock ran on while the process was stopped
            took, self._was_paused = min(took, self._usual or took), False
        self._usual = took
        self.seconds += took
        found = {
            "step": self.step, "epoch": self.epoch, "loss": loss.item() / words,
            "guide": pull.item() / guided if guided else float("nan"), "norm": norm.item(),
            "rate": rate, "tokens": batch.tokens, "tokens_per_second": batch.tokens / took,
        }  # fmt: skip
        if not np.isfinite(found["loss"]):
            raise TrainingError(
                f"the loss is {found['loss']} at step {self.step}; the last checkpoint is from "
                "before: start again in another run folder with a lower rate"
            )
        return found

    def losses(self, batch: Batch) -> tuple[Any, Any, int]:
        """Summed cross-entropy, summed guide loss, and how many sentences were guided."""
        weights = nest({name: p.to(self.kind) for name, p in self.parameters.items()})
        source = torch.from_numpy(batch.source).to(self.device)
        lengths = torch.from_numpy(batch.source_lengths)  # masks are described on the CPU
        target = torch.from_numpy(batch.target).to(self.device)
        read = self.kept and self.kept.read(batch.numbers, self.kind, self.device)
        drop = dropout(self.recipe.dropout, (self.recipe.seed, self.step))
        with self._rounding():
            states = translation.encode_states(weights, self.config, source, lengths, read, drop)
            hidden = translation.decode(
                weights, self.config, target[:, :-1], states[-1], lengths, drop=drop
            )
        counts = torch.from_numpy(batch.target_lengths).to(self.device)
        real = torch.arange(target.shape[1] - 1, device=self.device) < counts[:, None]
        wanted = target[:, 1:][real]
        loss = smoothed_cross_entropy(
            hidden[real], weights["embedding"], wanted, self.recipe.smoothing
        )
        pull, guided = self._pull(weights, states, lengths, batch.guide)
        return loss, pull, guided

    def _rounding(self) -> Any:
        """Lets the scores of attention round to bfloat16 as all other products here do."""
        wanted = self.kind == torch.bfloat16 and self.device.type == "cpu"
        return torch.autocast("cpu", torch.bfloat16, enabled=wanted)

    def save(self) -> Path:
        """Writes a checkpoint and returns its path."""
        state = {
            "step": self.step, "epoch": self.epoch, "at": self.at, "seconds": self.seconds,
            "config": json.dumps(self.config.to_dict()), "precision": str(self.kind),
            "weights": {name: p.detach() for name, p in self.parameters.items()}
            | {name: torch.from_numpy(leaf) for name, leaf in self.frozen.items()},
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
        }  # fmt: skip
        return checkpoint.write(self.folder, state)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on where a checkpoint left off: the same numbers as without the interruption.

        Args:
            state: what :func:`clearhead.training.checkpoint.read` gave.
        """
        if "precision" in state:  # timed once a run: another kind would give other numbers
            self.kind = getattr(torch, state["precision"].removeprefix("torch."))
        with torch.no_grad():
            for name, p in self.parameters.items():
                p.copy_(state["weights"][name])
        for optimiser, held in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(held)
        self.step, self.epoch, self.at = state["step"], state["epoch"], state["at"]
        self.seconds = state["seconds"]

    def weights(self) -> Any:
        """The weights as a tree of float32 NumPy arrays (copies), a frozen encoder's included."""
        trained = {n: p.detach().cpu().numpy().copy() for n, p in self.parameters.items()}
        return nest(trained | self.frozen)

    def _pull(self, weights: Any, states: Any, lengths: Any, guide: Any) -> tuple[Any, int]:
        marked = np.flatnonzero(guide[:, 0] >= 0)
        if not self.recipe.guide or not len(marked) or not self.config.guided:
            return torch.zeros((), device=self.device), 0
        number, head = self.config.guided[0]
        layer = weights["encoder"][number]
        rows = torch.from_numpy(marked).to(self.device)
        where = torch.from_numpy(guide[marked].astype(np.int64)).to(self.device)
        x = layer_norm(states[number][rows], layer["norm_attention"])
        d = self.config.width // self.config.heads
        columns = slice(head * d, (head + 1) * d)
        at_it = x[torch.arange(len(rows), device=self.device), where[:, 0]]
        query = linear(at_it, layer["attention"]["w_q"][:, columns])
        key = linear(x, layer["attention"]["w_k"][:, columns])
        return guide_loss(query, key, lengths.to(self.device)[rows], where), len(marked)

    def _next_batch(self) -> Batch:
        if self._order_of != self.epoch:
            self._order = batches(
                self.pairs, tokens=self.recipe.tokens, seed=self.recipe.seed, epoch=self.epoch
            )
            self._order_of = self.epoch
        batch = collate(self.pairs, self._order[self.at], self.pad)
        self.at += 1
        if self.at == len(self._order):
            self.epoch, self.at = self.epoch + 1, 0
        return batch

    def _ask_to_stop(self, number: int, frame: Any) -> None:
        self._stop = True

    def _note_pause(self, number: int, frame: Any) -> None:
        self._was_paused = True


def _of_source(name: str) -> bool:
    """Whether a weight belongs to the BERT-type encoder that reads the source first."""
    return name.startswith("source.")


def _by_muon(name: str, weight: Any) -> bool:
    return weight.ndim == 2 and name != "embedding" and not _of_source(name)


def _kind(precision: str, device: Any) -> Any:
    """The kind of the products; "auto" times one product of each kind, as machines differ."""
    if precision != "auto":
        return getattr(torch, precision)
    if device.type != "cpu":
        return torch.bfloat16
    times = {}
    for kind in (torch.float32, torch.bfloat16):
        a, b = torch.ones(1024, 512, dtype=kind), torch.ones(512, 512, dtype=kind)
        a @ b
        start = time.perf_counter()
        for _ in range(4):
            a @ b
        times[kind] = time.perf_counter() - start
    # Copies between kinds eat a good part of a small gain.
    return torch.bfloat16 if times[torch.bfloat16] * 1.5 < times[torch.float32] else torch.float32
