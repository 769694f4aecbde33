"""Weights around the attention: projections, norms, feed-forward, embeddings, positions.

Every layer is a plain function of plain arrays, written once against the Python array API: NumPy
runs it to translate and to look, PyTorch runs the same lines to train.
"""

from clearhead.layer.embedding import embed
from clearhead.layer.feedforward import feed_forward, gelu
from clearhead.layer.linear import linear
from clearhead.layer.multihead import MultiHeadAttention, multi_head_attention
from clearhead.layer.norm import layer_norm
from clearhead.layer.positions import sinusoid

__all__ = [
    "MultiHeadAttention",
    "embed",
    "feed_forward",
    "gelu",
    "layer_norm",
    "linear",
    "multi_head_attention",
    "sinusoid",
]
