"""Layer normalisation (Ba et al. 2016, "Layer Normalization", equations 3 and 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearhead.inputs.arrays import is_torch, namespace

__all__ = ["layer_norm"]


def layer_norm(x: Any, weight: Any, bias: Any = None, eps: float = 1e-5) -> Any:
    """Gives every position mean 0 and variance 1 over the last axis, then scales and shifts it.

    y = (x − mean) / sqrt(variance + eps) · weight + bias

    Args:
        x: (..., width)
        weight: (width,)
        bias: (width,), or None.
        eps: added to the variance.

    Returns:
        (..., width)

    Example:
        >>> import numpy as np
        >>> layer_norm(np.array([[1.0, 3.0]]), np.ones(2), eps=0.0)
        array([[-1.,  1.]])
    """
    if is_torch(x):
        xp = namespace(x)
        # The same formula in one pass and with one gradient; it is a third of the time in training.
        return xp.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, eps)
    if x.dtype.itemsize < 4:  # squares of halves may leave their range; these means are of float32
        centred = x - np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(centred * centred, axis=-1, keepdims=True)
    else:  # the same without the calls that np.mean makes: it is called for every piece
        centred = x - np.add.reduce(x, axis=-1, keepdims=True) / x.shape[-1]
        variance = np.vecdot(centred, centred)[..., None] / x.shape[-1]
    centred *= 1 / np.sqrt(variance + eps)
    y = np.multiply(centred, weight, out=centred if weight.dtype == x.dtype else None)
    return y if bias is None else y + bias
