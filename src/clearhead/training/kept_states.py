"""States of a frozen encoder, computed once and kept on disk in bfloat16 beside the checkpoints."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from clearhead.errors import TrainingError
from clearhead.model.bert import BertConfig
from clearhead.model.source import source_states, source_width
from clearhead.model.tree import flatten, map_tree
from clearhead.training.data import Pairs

__all__ = ["KeptStates"]

_AT_ONCE = 4_000  # pieces read in one batch


class KeptStates:
    """What a frozen encoder makes of every source of a run, read back row by row.

    Each different source is read once; the file ``states.bf16`` in the folder of the run holds a
    row of 3 · width numbers for each of its pieces, and is made again only where the sources or
    the encoder changed.

    Args:
        folder: of the run.
        pairs: the training text in pieces of that encoder.
        weights: the tree of :mod:`clearhead.model.bert`, NumPy arrays.
        config: its sizes.
        device: "cpu" or "cuda", to compute on.
        say: called with a line now and then.

    Raises:
        TrainingError: the disk has no room for them, or may not be written.
    """

    def __init__(
        self,
        folder: Path,
        pairs: Pairs,
        weights: Mapping[str, Any],
        config: BertConfig,
        device: Any = "cpu",
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._width = source_width(config)
        sources, self._number = _different(pairs)
        sizes = np.array([len(source) for source in sources], np.int64)
        self._at = np.concatenate([[0], np.cumsum(sizes)])
        path, key = folder / "states.bf16", _key(sources, weights)
        shape = (int(self._at[-1]), self._width)
        try:
            if not _is_there(path, key, shape):
                say(f"{len(sources):,} sources to read, {shape[0] * shape[1] * 2 / 1e9:.1f} GB")
                self._compute(path, shape, sources, weights, config, torch.device(device), say)
                path.with_suffix(".json").write_text(json.dumps({"key": key}), encoding="utf-8")
            self._states: Any = np.memmap(path, np.int16, "r", shape=shape)
        except OSError as error:
            raise TrainingError(
                f"states of the frozen encoder cannot be kept in {path} ({error}); free some "
                "space, or train the encoder along (encoder_mode trained)"
            ) from error

    def read(self, numbers: Any, kind: Any, device: Any) -> Any:
        """The states of these pairs' sources, (B, S, 3 · width), padded with zeros."""
        rows = [self._states[self._at[n] : self._at[n + 1]] for n in self._number[numbers]]
        held = np.zeros((len(rows), max(map(len, rows)), self._width), np.int16)
        for place, row in zip(held, rows, strict=True):
            place[: len(row)] = row
        return torch.from_numpy(held).view(torch.bfloat16).to(device=device, dtype=kind)

    def _compute(
        self,
        path: Path,
        shape: tuple[int, int],
        sources: list[Any],
        weights: Mapping[str, Any],
        config: BertConfig,
        device: Any,
        say: Callable[[str], None],
    ) -> None:
        tensors = map_tree(lambda leaf: torch.tensor(leaf, device=device), weights)
        beside = path.with_suffix(".part")
        order = np.argsort([len(source) for source in sources], kind="stable")
        told, done = time.monotonic(), 0
        try:
            with beside.open("w+b") as file:
                # Room is taken first: a full disk under a mapped file would kill the process.
                size = shape[0] * shape[1] * 2
                getattr(os, "posix_fallocate", _stretch)(file.fileno(), 0, size)
                held: Any = np.memmap(file, np.int16, "r+", shape=shape)
                while done < len(order):
                    longest = len(sources[order[min(done + 63, len(order) - 1)]])
                    chosen = order[done : done + max(1, min(64, _AT_ONCE // longest))]
                    self._read(held, chosen, sources, tensors, config, device)
                    done += len(chosen)
                    if time.monotonic() - told > 60:
                        told = time.monotonic()
                        say(f"{done:,} of {len(order):,} sources read")
                held.flush()
            beside.replace(path)
        except BaseException:  # Ctrl-C too: gigabytes would be left behind
            beside.unlink(missing_ok=True)
            raise

    def _read(
        self, held: Any, chosen: Any, sources: list[Any], tensors: Any, config: BertConfig,
        device: Any,
    ) -> None:  # fmt: skip
        lengths = [len(sources[n]) for n in chosen]
        ids = np.zeros((len(chosen), max(lengths)), np.int64)
        for row, n in zip(ids, chosen, strict=True):
            row[: len(sources[n])] = sources[n]
        with torch.inference_mode():
            states = source_states(
                tensors, config, torch.from_numpy(ids).to(device), torch.tensor(lengths)
            )
            bits = states.bfloat16().cpu().view(torch.int16).numpy()
        for row, n, length in zip(bits, chosen, lengths, strict=True):
            held[self._at[n] : self._at[n] + length] = row[:length]


def _stretch(number: int, start: int, size: int) -> None:
    """Where the system cannot take room ahead (macOS): a file of that size, with holes."""
    os.ftruncate(number, start + size)


def _different(pairs: Pairs) -> tuple[list[Any], Any]:
    """The different sources in order of appearance, and which of them each pair has."""
    known: dict[bytes, int] = {}
    sources: list[Any] = []
    number = np.empty(len(pairs), np.int64)
    for i in range(len(pairs)):
        source = pairs.source[pairs.source_at[i] : pairs.source_at[i + 1]]
        at = known.setdefault(source.tobytes(), len(sources))
        if at == len(sources):
            sources.append(source)
        number[i] = at
    return sources, number


def _key(sources: list[Any], weights: Mapping[str, Any]) -> str:
    """Tells these sources and this encoder from any other."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(len(source).to_bytes(4, "little") + source.tobytes())
    for name, leaf in flatten(weights).items():
        digest.update(name.encode() + np.ascontiguousarray(leaf).tobytes())
    return digest.hexdigest()


def _is_there(path: Path, key: str, shape: tuple[int, int]) -> bool:
    """Whether the file holds the states of this key, whole."""
    try:
        held = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        return bool(held == {"key": key} and path.stat().st_size == shape[0] * shape[1] * 2)
    except (OSError, ValueError):
        return False
