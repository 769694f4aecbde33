"""The training loop: batches in, checkpoints out; it can be paused, ended and resumed anywhere."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from clearhead.errors import TrainingError
from clearhead.model.config import TranslationConfig
from clearhead.model.tree import flatten, nest
from clearhead.training import checkpoint
from clearhead.training.average import RunningAverage
from clearhead.training.data import Batch, Pairs, batches, collate
from clearhead.training.dropout import dropout
from clearhead.training.interrupts import Interrupts
from clearhead.training.kept_states import KeptStates
from clearhead.training.objective import Objective
from clearhead.training.optimisers import make_optimisers, of_source, set_rate
from clearhead.training.precision import product_kind
from clearhead.training.processes import Processes
from clearhead.training.recipe import Recipe

__all__ = ["Trainer"]

_GOES_ON, _ENOUGH, _ASKED = 0, 1, 2  # why a run ends before its last step; the most of all counts


class Trainer:
    """One run: the weights, the two optimisers and where in the data it stands.

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
        processes: who else trains along; each has a Trainer of the same arguments.
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
        processes: Processes | None = None,
    ) -> None:
        self.recipe, self.config, self.pairs, self.pad = recipe, config, pairs, pad
        self.folder, self.device, self.kept = folder, torch.device(device), kept
        self.processes = processes or Processes()
        flat = flatten(weights)
        self.frozen = {n: leaf for n, leaf in flat.items() if recipe.frozen and of_source(n)}
        self.parameters = {
            name: torch.tensor(leaf, device=self.device).requires_grad_()
            for name, leaf in flat.items()
            if name not in self.frozen
        }
        self.kind = self.processes.from_first(lambda: product_kind(recipe.precision, self.device))
        self.objective = Objective(config, recipe.smoothing, recipe.guide)
        self.optimisers = make_optimisers(self.parameters, recipe, self.processes)
        self.average = RunningAverage(self.parameters, recipe.average) if recipe.average else None
        self.interrupts = Interrupts()
        self.step, self.epoch, self.at = 0, 0, 0
        self.seconds = 0.0
        self._ends, self._usual, self._saved_at = _GOES_ON, 0.0, -1
        self._order: list[Any] = []
        self._order_of = -1

    def run(
        self,
        *,
        every: float = 300.0,
        report: Callable[[dict[str, float]], None] = lambda found: None,
        after_checkpoint: Callable[[], None] = lambda: None,
    ) -> None:
        """Trains until the recipe's last step, or until it is asked to end; saves either way.

        Ctrl-C and SIGTERM ask for it, of whichever process, and :meth:`enough` does.

        Args:
            every: seconds between checkpoints.
            report: called after every step with loss, rate and tokens per second.
            after_checkpoint: called by the first process after each checkpoint, to evaluate for
                example; no more once it was asked to end.
        """

        def keep() -> None:
            self.save()
            if not self.stopped:
                after_checkpoint()

        first, saved = self.processes.first, time.monotonic()
        with self.interrupts:
            while self.step < self.recipe.steps and not self._ended():
                report(self.one_step())
                if first and time.monotonic() - saved > every:
                    keep()
                    saved = time.monotonic()
            if first and self._saved_at != self.step:
                keep()
            self.processes.wait()  # for the checkpoint

    @property
    def stopped(self) -> bool:
        """Whether a signal ended the run before its last step."""
        return self.interrupts.stop or self._ends == _ASKED

    def enough(self) -> None:
        """Ends the run before its next step: it would learn no more."""
        self._ends = max(self._ends, _ENOUGH)

    def _ended(self) -> bool:
        """Whether any process has a reason to end."""
        mine = _ASKED if self.interrupts.stop else self._ends
        self._ends = self.processes.most(mine)
        return self._ends != _GOES_ON

    def one_step(self) -> dict[str, float]:
        """One batch: forward, backward, both optimisers; what to report of it."""
        start = time.perf_counter()
        batch = self._next_batch()
        rate = self.recipe.rate_at(self.step)
        set_rate(self.optimisers, rate)
        counts = self.objective.counts(batch)
        loss, pull = self._backward(batch)
        norm = torch.nn.utils.clip_grad_norm_(self.parameters.values(), self.recipe.clip)
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.step += 1
        if self.average:
            self.average.add()
        took = time.perf_counter() - start
        if self.interrupts.paused:  # the clock ran on while the process was stopped
            took, self.interrupts.paused = min(took, self._usual or took), False
        self._usual = took
        self.seconds += took
        found = {
            "step": self.step, "epoch": self.epoch, "loss": loss / counts.words,
            "guide": pull / counts.guided if counts.guided else float("nan"),
            "norm": norm.item(), "rate": rate, "tokens": batch.tokens,
            "tokens_per_second": batch.tokens / took,
        }  # fmt: skip
        if not np.isfinite(found["loss"]):
            raise TrainingError(
                f"the loss is {found['loss']} at step {self.step}; the last checkpoint is from "
                "before: start again in another run folder with a lower rate"
            )
        return found

    def losses(self, batch: Batch, mine: slice | None = None) -> tuple[Any, Any]:
        """Summed cross-entropy and summed guide loss, of some rows of a batch or all."""
        weights = nest({name: p.to(self.kind) for name, p in self.parameters.items()})
        part = batch.rows(mine) if mine else batch
        drop = dropout(self.recipe.dropout, (self.recipe.seed, self.step), rows=mine, of=len(batch))
        read = self.kept and self.kept.read(part.numbers, self.kind, self.device)
        return self.objective(weights, part, read=read, drop=drop)

    def _backward(self, batch: Batch) -> tuple[float, float]:
        """Gradients of the whole batch, on every process; both sums over the whole batch."""
        alone, mine = self.processes.size == 1, self.processes.share(len(batch))
        sums = torch.zeros(2, device=self.device)
        if mine.start < mine.stop:  # a batch of one sentence leaves others nothing to do
            loss, pull = self.losses(batch, None if alone else mine)
            self.objective.total(loss, pull, self.objective.counts(batch)).backward()
            sums += torch.stack([loss.detach(), pull.detach()])
        if not alone:
            for p in self.parameters.values():
                p.grad = torch.zeros_like(p) if p.grad is None else p.grad
            self.processes.add([*(p.grad for p in self.parameters.values()), sums])
        return sums[0].item(), sums[1].item()

    def save(self) -> Path:
        """Writes a checkpoint and returns its path."""
        state = {
            "step": self.step, "epoch": self.epoch, "at": self.at, "seconds": self.seconds,
            "config": json.dumps(self.config.to_dict()), "precision": str(self.kind),
            "weights": {name: p.detach() for name, p in self.parameters.items()}
            | {name: torch.from_numpy(leaf) for name, leaf in self.frozen.items()},
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
        }  # fmt: skip
        if self.average:
            state["average"] = self.average.state()
        path = checkpoint.write(self.folder, state)
        self._saved_at = self.step
        return path

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
        if self.average:
            self.average.restore(state.get("average"))
        self.step, self.epoch, self.at = state["step"], state["epoch"], state["at"]
        self.seconds, self._saved_at = state["seconds"], self.step

    def weights(self, averaged: bool = False) -> Any:
        """The weights as a tree of float32 NumPy arrays (copies), a frozen encoder's included.

        With ``averaged`` they are the running average, where the recipe has one.
        """
        held = self.average.weights if averaged and self.average else self.parameters
        trained = {name: p.detach().cpu().numpy().copy() for name, p in held.items()}
        return nest(trained | self.frozen)

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
