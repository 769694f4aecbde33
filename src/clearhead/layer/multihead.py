"""Multi-head attention with its four matrices (Vaswani et al. 2017, section 3.2.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, overload

import numpy as np

from clearhead.core import steps as plain
from clearhead.core.observation import Observation, Observe
from clearhead.errors import KindError, ShapeError
from clearhead.inputs.arrays import Array, is_torch, kind
from clearhead.inputs.masks import Mask
from clearhead.inputs.options import whole_number
from clearhead.inputs.shapes import show
from clearhead.layer.heads import attend, project, split_heads

__all__ = ["MultiHeadAttention", "multi_head_attention"]


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
        KindError, ArgumentError: what is no whole number of 1 or more.

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
        width, heads = whole_number(width, "width", 1), whole_number(heads, "heads", 1)
        shared = heads if kv_heads is None else whole_number(kv_heads, "kv_heads", 1)
        if head_width is None and width % heads:
            raise ShapeError(
                f"heads: found {heads}; wanted a number that divides the width, {width}; "
                "choose another, or give head_width"
            )
        if heads % shared:
            raise ShapeError(
                f"kv_heads: found {shared}; wanted a number that divides heads, {heads}, since as "
                "many query heads share each of them; choose another"
            )
        self.width, self.heads, self.kv_heads = width, heads, shared
        self.head_width = whole_number(
            width // heads if head_width is None else head_width, "head_width", 1
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

    @overload
    def __call__(
        self, x: Array, memory: Array | None = None, *,
        mask: Mask | Array | None = None, observe: None = None,
    ) -> Array: ...  # fmt: skip

    @overload
    def __call__(
        self, x: Array, memory: Array | None = None, *,
        mask: Mask | Array | None = None, observe: Observe,
    ) -> tuple[Array, Observation]: ...  # fmt: skip

    def __call__(
        self, x: Any, memory: Any = None, *, mask: Any = None, observe: Observe | None = None
    ) -> Any:
        """Attends from ``x`` (..., N, width) to ``memory`` (..., M, width), or to itself.

        Returns:
            (..., N, width); with ``observe``, that and an ``Observation``.
        """
        self._check(x, memory)
        return multi_head_attention(
            x, self.weights, self.heads, kv_heads=self.kv_heads, memory=memory, mask=mask,
            observe=observe,
        )  # fmt: skip

    def steps(self, x: Any, memory: Any = None, *, mask: Any = None) -> plain.Steps:
        """Every computing step of one call by name, the plain way (N x M memory).

        Returns:
            a ``Steps`` with queries, keys, values, scores, scaled_scores, weights,
            weighted_values, head_outputs, concatenated and output.
        """
        self._check(x, memory)
        return plain.multi_head_steps(
            x, self.weights, self.heads, kv_heads=self.kv_heads, mask=mask, memory=memory
        )

    def _check(self, x: Any, memory: Any) -> None:
        if isinstance(memory, Mask):
            raise KindError(
                f"memory: found the mask {memory}; wanted an array (..., length, {self.width}); "
                "name the mask: layer(x, mask=...)"
            )
        for name, given in (("x", x), ("memory", x if memory is None else memory)):
            kind(given, name)
            if len(given.shape) < 2 or given.shape[-1] != self.width:
                raise ShapeError(
                    f"{name}: found shape {show(given.shape)}; wanted (..., length, {self.width}), "
                    "the last axis as wide as the layer"
                )
            if is_torch(given) != is_torch(self.w_q):
                raise KindError(
                    f"{name}: found {_library(given)} beside weights of {_library(self.w_q)}; "
                    "wanted one library; convert either"
                )
            if kind(given, name) != kind(self.w_q, "w_q"):
                raise KindError(
                    f"{name}: found kind {kind(given)} beside weights of {kind(self.w_q)}; wanted "
                    "one kind, since nothing is promoted silently; convert either, or make the "
                    "layer with dtype="
                )

    def __repr__(self) -> str:
        grouped = "" if self.kv_heads == self.heads else f", kv_heads={self.kv_heads}"
        return f"MultiHeadAttention(width={self.width}, heads={self.heads}{grouped})"


def _library(x: Any) -> str:
    return "torch" if is_torch(x) else "NumPy"


def _glorot(rng: np.random.Generator, inputs: int, outputs: int, dtype: Any) -> Any:
    bound = math.sqrt(6 / (inputs + outputs))
    return rng.uniform(-bound, bound, (inputs, outputs)).astype(dtype)
