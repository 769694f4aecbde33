"""What a translation model is made of, as it is written beside its weights."""

from __future__ import annotations

import dataclasses
from operator import index
from pathlib import Path
from typing import Any

from clearhead.errors import ModelError
from clearhead.model.bert import BertConfig
from clearhead.model.files import read_json
from clearhead.model.source import LEAST_POSITIONS

__all__ = ["TranslationConfig"]

# Beyond these a file is damaged or hostile: nothing is made room for before they are checked.
_MOST = {
    "vocabulary": 1_000_000,
    "width": 16_384,
    "heads": 1_024,
    "inner": 131_072,
    "encoder_layers": 256,
    "decoder_layers": 256,
}


@dataclasses.dataclass(frozen=True)
class TranslationConfig:
    """The sizes of an encoder–decoder Transformer, and what training did to it.

    Attributes:
        vocabulary: pieces in the joint vocabulary of source and target.
        width: of the model; every head is ``width // heads`` wide.
        heads: attention heads of every layer.
        inner: width of the feed-forward networks between their two maps.
        encoder_layers, decoder_layers: how many of each.
        activation: of the feed-forward networks, "relu" or "gelu".
        languages: target languages by tag, the first is the default.
        guided: heads of the encoder, as (layer, head) from 0, that training pulled to marked
            antecedents; every other head is as it grew.
        source: sizes of a BERT-type encoder that reads the source first, or None.

    Example:
        >>> TranslationConfig(vocabulary=100, width=64, heads=1).inner
        256
    """

    vocabulary: int
    width: int = 384
    heads: int = 6
    inner: int = 0
    encoder_layers: int = 4
    decoder_layers: int = 3
    activation: str = "relu"
    languages: tuple[str, ...] = ("fr", "de")
    guided: tuple[tuple[int, int], ...] = ()
    source: BertConfig | None = None

    def __post_init__(self) -> None:
        if type(self.inner) is int and not self.inner:
            object.__setattr__(self, "inner", 4 * self.width)
        for name, most in _MOST.items():
            found = getattr(self, name)
            if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= most:
                raise ModelError(f"{name}: found {found!r}; wanted a whole number from 1 to {most}")
        if self.activation not in ("relu", "gelu"):
            raise ModelError(f"activation: found {self.activation!r}; wanted 'relu' or 'gelu'")
        tags: Any = self.languages
        if not (isinstance(tags, tuple) and tags and all(isinstance(t, str) and t for t in tags)):
            raise ModelError(
                f"languages: found {self.languages!r}; wanted at least one tag, as 'fr'"
            )
        for layer, head in self.guided:
            if not (0 <= layer < self.encoder_layers and 0 <= head < self.heads):
                raise ModelError(
                    f"guided names head {head} of layer {layer}; the encoder has "
                    f"{self.encoder_layers} layers of {self.heads} heads"
                )
        if self.source is not None and self.source.positions < LEAST_POSITIONS:
            raise ModelError(
                f"the source's encoder reads {self.source.positions} pieces; "
                f"wanted at least {LEAST_POSITIONS}"
            )
        if self.width % self.heads or self.width % 2:
            raise ModelError(
                f"width is {self.width}, heads is {self.heads}; "
                "the width must be even and a multiple of the heads"
            )

    @classmethod
    def read(cls, path: Path) -> TranslationConfig:
        """Reads ``config.json``.

        Raises:
            ModelError: the file is missing, is not JSON, or is not a translation model's.
        """
        return cls.from_dict(read_json(path), str(path))

    @classmethod
    def from_dict(cls, found: Any, name: str = "config") -> TranslationConfig:
        """Makes a config of a dictionary, as it came from JSON; unknown entries are refused."""
        if not isinstance(found, dict) or found.get("model_type") != "clearhead-translation":
            raise ModelError(f"{name} is not the config of a clearhead translation model")
        fields = {field.name for field in dataclasses.fields(cls)}
        values = {key: value for key, value in found.items() if key != "model_type"}
        if unknown := sorted(set(values) - fields):
            raise ModelError(f"{name} has entries this version does not know: {unknown}")
        try:
            if isinstance(values.get("languages"), list):
                values["languages"] = tuple(values["languages"])
            values["guided"] = tuple((index(a), index(b)) for a, b in values.get("guided", []))
            if values.get("source") is not None:
                values["source"] = BertConfig(**values["source"])
            return cls(**values)
        except ModelError as error:
            raise ModelError(f"{name} cannot be used: {error}") from None
        except (TypeError, ValueError) as error:
            raise ModelError(f"{name} cannot be used: {error}") from error

    def to_dict(self) -> dict[str, Any]:
        """The entries of ``config.json``."""
        entries = dataclasses.asdict(self)
        if self.source is None:
            del entries["source"]
        return {"model_type": "clearhead-translation", **entries}
