"""The processes of a run: one, or several by ``torchrun``, each with its share of every batch.

Every process holds all weights. Of each batch it reads its own sentences, and the gradients are
summed over the processes as one flat buffer before the optimisers step, so a step is that of one
process on the whole batch (synchronous data parallelism). The model is a function over a tree of
tensors and a step has one forward and one backward pass: what ``DistributedDataParallel`` adds to
modules, hooks and buckets that overlap with the backward pass, would hide more than it gains.
"""

from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import torch
import torch.distributed

from clearhead.errors import ClearheadError, TrainingError

__all__ = ["Processes", "joined"]

T = TypeVar("T")

_PATIENCE = datetime.timedelta(days=7)  # a run may be paused for the night, or score a long dev set


class Processes:
    """Who else trains along.

    Attributes:
        rank: of this process, from 0; the first one writes, logs and scores.
        size: how many there are.

    Example:
        >>> alone = Processes()
        >>> alone.first, alone.share(10)
        (True, slice(0, 10, None))
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @property
    def first(self) -> bool:
        """Whether this is the process that writes, logs and scores."""
        return self.rank == 0

    def share(self, count: int) -> slice:
        """Which of ``count`` sentences are this process's: even, adjacent, all together all."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def add(self, tensors: Sequence[Any]) -> None:
        """Puts into each tensor its sum over all processes, by way of one flat buffer."""
        if self.size == 1:
            return
        flat = torch.cat([tensor.detach().reshape(-1).float() for tensor in tensors])
        self._or_lost(lambda: torch.distributed.all_reduce(flat))
        sizes = [tensor.numel() for tensor in tensors]
        for tensor, part in zip(tensors, torch.split(flat, sizes), strict=True):
            tensor.copy_(part.view(tensor.shape))

    def most(self, number: int) -> int:
        """The largest of all processes' numbers."""
        if self.size == 1:
            return number
        found = torch.tensor([number])
        most = torch.distributed.ReduceOp.MAX
        self._or_lost(lambda: torch.distributed.all_reduce(found, most))
        return int(found)

    def wait(self) -> None:
        """Until all processes are here."""
        self.most(0)

    def from_first(self, make: Callable[[], T]) -> T:
        """What the first process makes, on all of them; where it fails, all do.

        Raises:
            ClearheadError: as ``make`` raises it, on the first process.
            TrainingError: the same text, on the others.
        """
        if self.size == 1:
            return make()
        made: list[Any] = [None, None]  # what, or why not
        failed = None
        if self.first:
            try:
                made[0] = make()
            except ClearheadError as error:
                failed, made[1] = error, str(error)
        self._or_lost(lambda: torch.distributed.broadcast_object_list(made))
        if failed:
            raise failed
        if made[1] is not None:
            raise TrainingError(f"the first process says: {made[1]}")
        found: T = made[0]
        return found

    def _or_lost(self, exchange: Callable[[], Any]) -> None:
        try:
            exchange()
        except RuntimeError as error:
            reason = str(error).splitlines()[0]
            raise TrainingError(
                f"process {self.rank} of {self.size} lost another one ({reason}); the last "
                "checkpoint is whole: start the same command again"
            ) from error


@contextlib.contextmanager
def joined() -> Iterator[Processes]:
    """The processes that ``torchrun`` told of in the environment; without it, this one alone.

    gloo joins them on CPUs, nccl the tensors on CUDA devices.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1 or "MASTER_ADDR" not in os.environ:
        yield Processes()
        return
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    torch.distributed.init_process_group(backend, timeout=_PATIENCE)
    try:
        yield Processes(torch.distributed.get_rank(), size)
    finally:
        torch.distributed.destroy_process_group()
