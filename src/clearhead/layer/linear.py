"""A linear map: y = x W + b."""

from __future__ import annotations

from typing import Any

__all__ = ["linear"]


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """Maps the last axis of ``x``: y = x W + b.

    The weight is stored as the formulas of the attention are written, X · W_Q: rows are inputs.
    (PyTorch's ``nn.Linear`` stores the transpose.)

    Args:
        x: (..., inputs)
        weight: (inputs, outputs)
        bias: (outputs,), or None for a map without one.

    Returns:
        (..., outputs), in the library and kind of ``x``.

    Example:
        >>> import numpy as np
        >>> linear(np.ones((1, 2)), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.0, 1.0]))
        array([[4., 7.]])
    """
    flat = x.ndim == 2
    # One product of two matrices: NumPy would loop over the leading axes of a stack.
    y = (x if flat else x.reshape((-1, weight.shape[0]))) @ weight
    if bias is not None:
        y = y + bias
    return y if flat else y.reshape((*x.shape[:-1], weight.shape[1]))
