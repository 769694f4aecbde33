"""A Hugging Face checkpoint folder of a BERT-type encoder: names of its tensors, and ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clearhead.errors import ModelError
from clearhead.model.bert import BertConfig
from clearhead.model.safetensors_file import TensorFile

__all__ = ["read_checkpoint"]

_PREFIXES = ("", "bert.")
# Checkpoints that once came from TensorFlow call a norm's weight gamma, and its bias beta.
_OLD = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}


def read_checkpoint(folder: Path) -> tuple[BertConfig, dict[str, Any]]:
    """Reads ``config.json`` and ``model.safetensors``.

    Tensors may be named with or without ``bert.`` in front, and be float32, float16 or bfloat16;
    those that an encoder has no use for (a pooler, a head) are passed over.

    Args:
        folder: of the checkpoint.

    Returns:
        the sizes, and the weights of :mod:`clearhead.model.bert` as float32 NumPy arrays, every
        matrix stored (inputs, outputs).

    Raises:
        ModelError: the folder holds no such model; the message says what is missing or odd.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder} is no folder; wanted one that holds a model")
    config = BertConfig.read(folder / "config.json")
    path = folder / "model.safetensors"
    if not path.exists():
        others = sorted(p.name for p in folder.glob("*") if p.suffix in {".bin", ".json", ".pt"})
        raise ModelError(
            f"{folder} holds no {path.name} (it holds {', '.join(others) or 'nothing'}); "
            "save the model again as one safetensors file"
        )
    return config, _Reader(TensorFile(path)).weights(config)


class _Reader:
    """Reads tensors by their Hugging Face names, whatever the prefix."""

    def __init__(self, file: TensorFile) -> None:
        self._file = file
        probe = "embeddings.word_embeddings.weight"
        found = file.first(prefix + probe for prefix in _PREFIXES)
        if found is None:
            raise ModelError(f"{file.path} holds no tensor {probe!r}: it is no BERT-type encoder")
        self._prefix = found.removesuffix(probe)

    def weights(self, c: BertConfig) -> dict[str, Any]:
        table = "embeddings.{}_embeddings.weight"
        return {
            "words": self._read(table.format("word"), (c.vocabulary, c.width)),
            "positions": self._read(table.format("position"), (c.positions, c.width)),
            "types": self._read(table.format("token_type"), (c.types, c.width)),
            "norm": self._norm("embeddings.LayerNorm", c),
            "layers": [self._layer(f"encoder.layer.{i}.", c) for i in range(c.layers)],
        }

    def _layer(self, at: str, c: BertConfig) -> dict[str, Any]:
        attention: dict[str, Any] = {}
        for letter, name in (("q", "query"), ("k", "key"), ("v", "value")):
            found = self._linear(f"{at}attention.self.{name}", c.width, c.width)
            attention[f"w_{letter}"], attention[f"b_{letter}"] = found
        attention["w_o"], attention["b_o"] = self._linear(
            f"{at}attention.output.dense", c.width, c.width
        )
        network: dict[str, Any] = {}
        network["w_in"], network["b_in"] = self._linear(f"{at}intermediate.dense", c.width, c.inner)
        network["w_out"], network["b_out"] = self._linear(f"{at}output.dense", c.inner, c.width)
        return {
            "attention": attention,
            "norm_attention": self._norm(f"{at}attention.output.LayerNorm", c),
            "feed_forward": network,
            "norm_feed_forward": self._norm(f"{at}output.LayerNorm", c),
        }

    def _linear(self, name: str, inputs: int, outputs: int) -> tuple[Any, Any]:
        """The matrix, turned from (outputs, inputs) to (inputs, outputs), and its bias."""
        matrix = self._read(f"{name}.weight", (outputs, inputs)).T.copy()
        return matrix, self._read(f"{name}.bias", (outputs,))

    def _norm(self, name: str, c: BertConfig) -> dict[str, Any]:
        return {part: self._read(f"{name}.{part}", (c.width,)) for part in ("weight", "bias")}

    def _read(self, name: str, shape: tuple[int, ...]) -> Any:
        name = self._prefix + name
        for new, old in _OLD.items():
            if name.endswith(new) and name not in self._file.shapes:
                name = self._file.first([name.removesuffix(new) + old]) or name
        return self._file.read_float32(name, shape)
