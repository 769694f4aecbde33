"""Plain calls: the short way by itself, the general way by itself, and arrays for both."""

from __future__ import annotations

from unittest import mock

import numpy as np
import torch

import clearhead as ch
from clearhead import _native
from clearhead.core import fused
from clearhead.core.handing import handed_mask
from clearhead.inputs.arrays import as_numpy
from support import cases


def plain(query, key, value, scale=None, mask=None):
    """The output of a plain call; None where it would go the general way."""
    return _native.plain(query, key, value, scale, mask, handed_mask)


class General:
    """The native module without its short way."""

    def __getattr__(self, name):
        return (lambda *_: None) if name == "plain" else getattr(_native, name)


def general(*arrays, **options):
    """A call of ``attention`` that goes the general way."""
    with mock.patch.object(fused, "native", General()):
        return ch.attention(*arrays, **options)


def drawn(rng, kind, heads=(6, 3), sizes=(5, 9), widths=(20, 24), batch=(2,)):
    """Query, key and value as NumPy arrays."""
    (h, h_kv), (n, m), (d_k, d_v) = heads, sizes, widths
    shapes = (*batch, h, n, d_k), (*batch, h_kv, m, d_k), (*batch, h_kv, m, d_v)
    return [rng.standard_normal(shape).astype(kind) for shape in shapes]


def as_tensors(arrays):
    """The same numbers in torch."""
    kind = str(arrays[0].dtype)
    return [torch.from_numpy(x.astype(np.float64)).to(getattr(torch, kind)) for x in arrays]


def same_bits(a, b):
    """Whether two arrays of any library are the same to the last bit."""
    return cases.same_bits(as_numpy(a), as_numpy(b))
