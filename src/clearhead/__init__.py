"""Multi-head self-attention you can see through.

The whole public interface is on this screen. A name is loaded from its stage when it is first
asked for, so ``import clearhead`` costs next to nothing; torch is never imported here.
"""

from __future__ import annotations

import importlib as _importlib
import typing as _typing

__all__ = [
    "ClearheadError",
    "KVCache",
    "Mask",
    "MultiHeadAttention",
    "Observation",
    "Observe",
    "Steps",
    "alibi",
    "allowed",
    "attention",
    "causal",
    "lengths",
    "load_translator",
    "look",
    "machine",
    "merge",
    "segments",
    "set_threads",
    "window",
]
__version__ = "0.1.0"

if _typing.TYPE_CHECKING:
    from clearhead import errors as errors  # a module, and no name of __all__
    from clearhead.core.cache import KVCache
    from clearhead.core.fused import attention
    from clearhead.core.machine import machine, set_threads
    from clearhead.core.merge import merge
    from clearhead.core.observation import Observation, Observe
    from clearhead.core.steps import Steps
    from clearhead.errors import ClearheadError
    from clearhead.inputs.biases import alibi
    from clearhead.inputs.masks import Mask, allowed, causal, lengths, segments, window
    from clearhead.layer.multihead import MultiHeadAttention
    from clearhead.model.translator import load_translator
    from clearhead.record.looking import look
else:
    _homes = {
        "core.cache": ("KVCache",),
        "core.fused": ("attention",),
        "core.machine": ("machine", "set_threads"),
        "core.merge": ("merge",),
        "core.observation": ("Observation", "Observe"),
        "core.steps": ("Steps",),
        "errors": ("ClearheadError",),
        "inputs.biases": ("alibi",),
        "inputs.masks": ("Mask", "allowed", "causal", "lengths", "segments", "window"),
        "layer.multihead": ("MultiHeadAttention",),
        "model.translator": ("load_translator",),
        "record.looking": ("look",),
    }
    _modules = ("errors",)  # whole: ``except clearhead.errors.ShapeError`` needs no import
    _home = {name: module for module, names in _homes.items() for name in names}

    def __getattr__(name):
        if name in _modules:
            return _importlib.import_module(f"clearhead.{name}")
        if name not in _home:
            raise AttributeError(f"module 'clearhead' has no attribute {name!r}")
        value = getattr(_importlib.import_module(f"clearhead.{_home[name]}"), name)
        return globals().setdefault(name, value)

    def __dir__():
        return [*__all__, *(name for name in globals() if name.startswith("__"))]
