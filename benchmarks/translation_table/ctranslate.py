"""CTranslate2 with our own weights, in float32: its Transformer can be told to be exactly ours.

Pre-norm layers with ReLU, our sinusoids as its table of positions, zeros for the shifts of the
norms, queries, keys and values in one matrix as it wants them, the output tied to the embedding.
So it writes the same pieces, but where a rule of ours on numbers or carried words forbids one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.layer.positions import sinusoid

__all__ = ["CTranslate"]

_POSITIONS = 1024


class CTranslate:
    """``ctranslate2.Translator`` on pieces, named by their numbers.

    Args:
        translator: ours, whose weights are taken.
        sources: pieces of every sentence, the end included.
        language: the piece that begins a translation.
        threads: for one batch; ``workers`` batches are translated at the same time.
    """

    def __init__(
        self,
        translator: Any,
        sources: Sequence[Sequence[int]],
        language: int,
        threads: int,
        workers: int = 1,
    ) -> None:
        import ctranslate2

        self.names = [str(i) for i in range(translator.config.vocabulary)]
        self.names[translator.vocabulary.pad] = "<unk>"  # it insists on one
        self.number = {name: i for i, name in enumerate(self.names)}
        self.sources = [[self.names[i] for i in row] for row in sources]
        with tempfile.TemporaryDirectory() as folder:
            _write(translator, self.names, language, Path(folder) / "model")
            self.model = ctranslate2.Translator(
                str(Path(folder) / "model"), device="cpu", compute_type="float32",
                inter_threads=workers, intra_threads=threads // workers,
            )  # fmt: skip
        slots = translator.vocabulary.slots
        tags = [translator.vocabulary.language(tag) for tag in translator.config.languages]
        self.never = [[self.names[i]] for i in (translator.vocabulary.pad, *tags, *slots)]

    def translate(self, beam: int, batch: int, *, rules: bool = False) -> list[list[int]]:
        """What is timed: the pieces of every sentence. It sorts by length and batches by itself.

        Args:
            beam: hypotheses; lengths are normalised as ours are by default.
            batch: sentences at once.
            rules: never write padding, tags or slots, as ours does not where nothing is carried.
        """
        found = self.model.translate_batch(
            self.sources, beam_size=beam, max_batch_size=batch, batch_type="examples",
            length_penalty=1.4, max_decoding_length=256, return_scores=beam > 1,
            suppress_sequences=self.never if rules else None,
        )  # fmt: skip
        return [[self.number[name] for name in each.hypotheses[0]] for each in found]


def _write(translator: Any, names: Sequence[str], language: int, folder: Path) -> None:
    from ctranslate2.specs import TransformerSpec

    config, weights = translator.config, translator.weights
    spec = TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers), config.heads, pre_norm=True
    )
    positions = np.ascontiguousarray(sinusoid(_POSITIONS, config.width))
    for side, where in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        where.position_encodings.encodings = positions
        _norm(where.layer_norm, weights[side + "_norm"])
    spec.encoder.embeddings[0].weight = weights["embedding"]
    spec.decoder.embeddings.weight = weights["embedding"]
    spec.decoder.projection.weight = weights["embedding"]
    for layer, given in zip(spec.encoder.layer, weights["encoder"], strict=True):
        _self_attention(layer.self_attention, given["attention"], given["norm_attention"])
        _feed_forward(layer.ffn, given)
    for layer, given in zip(spec.decoder.layer, weights["decoder"], strict=True):
        _self_attention(layer.self_attention, given["self_attention"], given["norm_self_attention"])
        _norm(layer.attention.layer_norm, given["norm_cross_attention"])
        across = given["cross_attention"]
        _linear(layer.attention.linear[0], across["w_q"])
        _linear(layer.attention.linear[1], across["w_k"], across["w_v"])
        _linear(layer.attention.linear[2], across["w_o"])
        _feed_forward(layer.ffn, given)
    spec.config.unk_token = names[translator.vocabulary.pad]
    spec.config.bos_token = spec.config.decoder_start_token = names[language]
    spec.config.eos_token = names[translator.vocabulary.end]
    spec.register_source_vocabulary(list(names))
    spec.register_target_vocabulary(list(names))
    spec.validate()
    spec.optimize()
    folder.mkdir()
    spec.save(str(folder))


def _self_attention(spec: Any, block: Mapping[str, Any], norm: Any) -> None:
    _norm(spec.layer_norm, norm)
    _linear(spec.linear[0], block["w_q"], block["w_k"], block["w_v"])
    _linear(spec.linear[1], block["w_o"])


def _feed_forward(spec: Any, layer: Mapping[str, Any]) -> None:
    _norm(spec.layer_norm, layer["norm_feed_forward"])
    _linear(spec.linear_0, layer["feed_forward"]["w_in"])
    _linear(spec.linear_1, layer["feed_forward"]["w_out"])


def _norm(spec: Any, scale: Any) -> None:
    spec.gamma, spec.beta = scale, np.zeros_like(scale)


def _linear(spec: Any, *matrices: Any) -> None:
    """Rows are outputs there; several matrices stand below each other."""
    spec.weight = np.ascontiguousarray(np.concatenate([m.T for m in matrices], axis=0))
