"""Hugging Face's ``generate`` on a model of our sizes: an EncoderDecoderModel of BERT layers.

The layers differ from ours (norms after each sub-layer, biases, learnt positions, and one more map
before the output), so the weights are random; sizes and the number of generated pieces are equal.
A batch generates until its longest translation is done, as it would with trained weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from translation_table.ratios import batches

__all__ = ["Generate"]


class Generate:
    """``EncoderDecoderModel.generate`` in float32.

    Args:
        config: our :class:`clearhead.model.config.TranslationConfig`.
        sources: pieces of every sentence.
        lengths: how many pieces are to be written for each, the end included.
        threads: of torch.
    """

    def __init__(
        self,
        config: Any,
        sources: Sequence[Sequence[int]],
        lengths: Sequence[int],
        threads: int,
    ) -> None:
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        self.model = _model(config).eval()
        self.sources, self.lengths = sources, lengths
        self.prepared: dict[int, list[tuple[dict[str, Any], int]]] = {}

    def translate(self, beam: int, batch: int) -> int:
        """What is timed: all batches; how many pieces each row of them was given, in sum."""
        total = 0
        for inputs, length in self._batches(batch):
            out = self.model.generate(
                **inputs, num_beams=beam, do_sample=False,
                min_new_tokens=length, max_new_tokens=length,
            )  # fmt: skip
            assert out.shape[1] == length + 1, f"{out.shape[1] - 1} pieces instead of {length}"
            total += length * len(out)
        return total

    def _batches(self, size: int) -> list[tuple[dict[str, Any], int]]:
        """Padded once, before anything is timed."""
        if size not in self.prepared:
            rows = batches(self.sources, self.lengths, size)
            self.prepared[size] = [
                (_padded([self.sources[i] for i in chosen]), max(self.lengths[i] for i in chosen))
                for chosen in rows
            ]
        return self.prepared[size]


def _model(config: Any) -> Any:
    from transformers import BertConfig, EncoderDecoderConfig, EncoderDecoderModel

    sizes = {
        "vocab_size": config.vocabulary,
        "hidden_size": config.width,
        "num_attention_heads": config.heads,
        "intermediate_size": config.inner,
        "hidden_act": config.activation,
        "max_position_embeddings": 512,
    }
    encoder = BertConfig(num_hidden_layers=config.encoder_layers, **sizes)
    decoder = BertConfig(num_hidden_layers=config.decoder_layers, **sizes)
    both = EncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    model = EncoderDecoderModel(both)
    for settings in (model.config, model.generation_config):
        settings.decoder_start_token_id, settings.pad_token_id, settings.eos_token_id = 2, 0, 1
    return model


def _padded(rows: Sequence[Sequence[int]]) -> dict[str, Any]:
    longest = max(len(row) for row in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.int64)
    seen = torch.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
        seen[number, : len(row)] = 1
    return {"input_ids": ids, "attention_mask": seen}
