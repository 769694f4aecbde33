"""Multi-head attention with its four matrices (Vaswani et al. 2017, section 3.2.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from clearhead.core import steps as plain
from clearhead.core.fused import attention
from clearhead.core.observation import Observe
from clearhead.errors import ArgumentError, ShapeError
from clearhead.layer.linear import linear

__all__ = [
    "MultiHeadAttention",
    "attend",
    "join_heads",
    "multi_head_attention",
    "project",
    "split_heads",
]


def split_heads(x: Any, heads: int) -> Any:
    """(..., N, heads · d) → (..., heads, N, d), a view: nothing is copied."""
    lead, length, width = x.shape[:-2], x.shape[-2], x.shape[-1]
    return x.reshape((*lead, length, heads, width // heads)).swapaxes(-2, -3)


def join_heads(x: Any) -> Any:
    """(..., heads, N, d) → (..., N, heads · d): the heads' outputs side by side."""
    lead, (heads, length, width) = x.shape[:-3], x.shape[-3:]
    return x.swapaxes(-2, -3).reshape((*lead, length, heads * width))


def project(x: Any, weights: Mapping[str, Any], name: str) -> Any:
    """Queries, keys or values of all heads, side by side: X W + b, (..., N, heads · d).

    Args:
        x: (..., N, width)
        weights: of the layer, as :func:`multi_head_attention` takes them.
        name: "q", "k" or "v".

    Example:
        >>> import numpy as np
        >>> project(np.ones((1, 2)), {"w_k": np.eye(2), "b_k": np.array([0.0, 1.0])}, "k")
        array([[1., 2.]])
    """
    return linear(x, weights["w_" + name], weights.get("b_" + name))


def attend(
    query: Any,
    key: Any,
    value: Any,
    weights: Mapping[str, Any],
    *,
    mask: Any = None,
    observe: Observe | None = None,
) -> Any:
    """What follows the projections: every head attends, the heads are joined and mapped by W_O.

    Args:
        query: (..., heads, N, d_k); key: (..., kv_heads, M, d_k); value: (..., kv_heads, M, d_v).
        weights: of the layer; ``w_o`` and, where the model has it, ``b_o`` are used.
        mask, observe: as of :func:`clearhead.attention`.

    Returns:
        (..., N, width); with ``observe``, that and an :class:`clearhead.Observation`.

    Example:
        >>> import numpy as np
        >>> one = np.ones((1, 1, 1))
        >>> attend(one, one, one, {"w_o": np.array([[2.0]])})
        array([[2.]])
    """
    seen = None
    out = attention(query, key, value, mask=mask, observe=observe)
    if observe is not None:
        out, seen = out
    joined = linear(join_heads(out), weights["w_o"], weights.get("b_o"))
    return joined if observe is None else (joined, seen)


def multi_head_attention(
    x: Any,
    weights: Mapping[str, Any],
    heads: int,
    *,
    kv_heads: int | None = None,
    memory: Any = None,
    mask: Any = None,
    observe: Observe | None = None,
) -> Any:
    """Attention of several heads side by side, over plain weights.

    Q = x W_Q, K = m W_K, V = m W_V; each head attends on its own columns; the heads' outputs are
    concatenated and multiplied by W_O.

    Args:
        x: (..., N, width) where the queries come from.
        weights: ``w_q`` (width, heads · d_k), ``w_k`` (width, kv_heads · d_k), ``w_v``
            (width, kv_heads · d_v), ``w_o`` (heads · d_v, width); ``b_q``, ``b_k``, ``b_v``,
            ``b_o`` where the model has them.
        heads: query heads.
        kv_heads: key heads; the default is ``heads``. ``heads`` must be a multiple of it.
        memory: (..., M, width) where keys and values come from; None is ``x`` (self-attention).
        mask: as of :func:`clearhead.attention`.
        observe: what to observe; the default is nothing.

    Returns:
        (..., N, width); with ``observe``, that and an :class:`clearhead.Observation`.

    Example:
        >>> import numpy as np
        >>> eye = {name: np.eye(4) for name in ("w_q", "w_k", "w_v", "w_o")}
        >>> multi_head_attention(np.ones((1, 3, 4)), eye, heads=2).shape
        (1, 3, 4)
    """
    source = x if memory is None else memory
    groups = kv_heads or heads
    query = split_heads(project(x, weights, "q"), heads)
    key = split_heads(project(source, weights, "k"), groups)
    value = split_heads(project(source, weights, "v"), groups)
    return attend(query, key, value, weights, mask=mask, observe=observe)


class MultiHeadAttention:
    """A multi-head attention layer: four matrices and a call.

    The weights are plain attributes, ``w_q``, ``w_k``, ``w_v``, ``w_o`` (and ``b_…``), which may
    be read, replaced, and be NumPy arrays or torch tensors. Nothing is kept from one call to the
    next: who wants to see hands in an ``Observe`` and gets an ``Observation`` back.

    Args:
        width: the width of the model, in and out.
        heads: how many query heads.
        kv_heads: how many key heads (grouped heads); the default is ``heads``.
        head_width: d_k and d_v of one head; the default is ``width // heads``.
        bias: whether the four maps have a bias, zero at first.
        seed: of the weights, uniform in ±sqrt(6 / (inputs + outputs)) (Glorot and Bengio 2010).
        dtype: NumPy dtype of the weights.

    Raises:
        ShapeError: heads that do not divide the width, or key heads that do not divide the heads.

    Example:
        >>> import numpy as np, clearhead as ch
        >>> layer = ch.MultiHeadAttention(width=8, heads=2)
        >>> x = np.random.default_rng(0).normal(size=(1, 5, 8)).astype(np.float32)
        >>> layer(x, mask=ch.causal()).shape
        (1, 5, 8)
        >>> layer.steps(x).weights.shape
        (1, 2, 5, 5)
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        kv_heads: int | None = None,
        head_width: int | None = None,
        bias: bool = True,
        seed: int = 0,
        dtype: Any = np.float32,
    ) -> None:
        if width < 1 or heads < 1:
            raise ArgumentError(f"width is {width}, heads is {heads}; both must be at least 1")
        if head_width is None and width % heads:
            raise ShapeError(
                f"width is {width}, heads is {heads}: {width} is no multiple of {heads}; "
                "choose another number of heads, or give head_width"
            )
        self.width, self.heads, self.kv_heads = width, heads, kv_heads or heads
        self.head_width = head_width or width // heads
        if heads % self.kv_heads:
            raise ShapeError(
                f"heads is {heads}, kv_heads is {self.kv_heads}: "
                f"{heads} is no multiple of {self.kv_heads}"
            )
        rng = np.random.default_rng(seed)
        query_width, key_width = heads * self.head_width, self.kv_heads * self.head_width
        self.w_q = _glorot(rng, width, query_width, dtype)
        self.w_k = _glorot(rng, width, key_width, dtype)
        self.w_v = _glorot(rng, width, key_width, dtype)
        self.w_o = _glorot(rng, query_width, width, dtype)
        self.b_q: Any = np.zeros(query_width, dtype) if bias else None
        self.b_k: Any = np.zeros(key_width, dtype) if bias else None
        self.b_v: Any = np.zeros(key_width, dtype) if bias else None
        self.b_o: Any = np.zeros(width, dtype) if bias else None

    @property
    def weights(self) -> dict[str, Any]:
        """The matrices (and biases) by name, as :func:`multi_head_attention` takes them."""
        names = ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o")
        return {name: getattr(self, name) for name in names}

    def __call__(
        self, x: Any, memory: Any = None, mask: Any = None, observe: Observe | None = None
    ) -> Any:
        """Attends from ``x`` (..., N, width) to ``memory`` (..., M, width), or to itself.

        Returns:
            (..., N, width); with ``observe``, that and an ``Observation``.
        """
        self._check("x", x)
        if memory is not None:
            self._check("memory", memory)
        return multi_head_attention(
            x, self.weights, self.heads, kv_heads=self.kv_heads, memory=memory, mask=mask,
            observe=observe,
        )  # fmt: skip

    def steps(self, x: Any, mask: Any = None, memory: Any = None) -> plain.Steps:
        """Every computing step of one call by name, the plain way (N x M memory).

        Returns:
            a ``Steps`` with queries, keys, values, scores, scaled_scores, weights,
            weighted_values, head_outputs, concatenated and output.
        """
        self._check("x", x)
        return plain.multi_head_steps(
            x, self.weights, self.heads, kv_heads=self.kv_heads, mask=mask, memory=memory
        )

    def _check(self, name: str, x: Any) -> None:
        if len(x.shape) < 2 or x.shape[-1] != self.width:
            raise ShapeError(
                f"{name} has shape {tuple(x.shape)}; wanted (..., length, {self.width})"
            )

    def __repr__(self) -> str:
        grouped = "" if self.kv_heads == self.heads else f", kv_heads={self.kv_heads}"
        return f"MultiHeadAttention(width={self.width}, heads={self.heads}{grouped})"


def _glorot(rng: np.random.Generator, inputs: int, outputs: int, dtype: Any) -> Any:
    bound = math.sqrt(6 / (inputs + outputs))
    return rng.uniform(-bound, bound, (inputs, outputs)).astype(dtype)
