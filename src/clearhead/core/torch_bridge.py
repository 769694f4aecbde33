"""Tensors that need a gradient, or live on another device: torch's own operations.

The fused pass has no backward yet. Such tensors take two products and a softmax of torch, or its
``scaled_dot_product_attention`` where the sequences are long. What these cannot do, and what is
observed, comes from the plain steps. Imported only once a tensor is there.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import forward_ad

from clearhead.core import selection, steps
from clearhead.core.handing import is_traced
from clearhead.core.observation import Observe
from clearhead.inputs.arrays import in_library_of, is_torch, observed_kind
from clearhead.inputs.call import Call
from clearhead.inputs.masks import ResolvedMask
from clearhead.inputs.shapes import Sizes, fits_in_memory

__all__ = ["attention", "differentiable_attention", "needs_torch"]

_SHORT = 128 * 128  # scores up to which torch's products are faster than its fused pass, and its
# fused backward in half kinds is several times slower; it carries no tangents forward at all


def needs_torch(call: Call, query: Any, key: Any, value: Any) -> bool:
    """Whether a gradient or a trace is wanted, or the tensors lie on another device."""
    if query.device.type != "cpu" or is_traced():
        return True
    if not torch.is_grad_enabled():
        return False
    slopes = None if call.alibi is None else call.alibi.slopes
    learned = (query, key, value, call.bias, call.sinks, slopes)
    return any(x is not None and is_torch(x) and x.requires_grad for x in learned)


def attention(
    call: Call, query: Any, key: Any, value: Any, observe: Observe | None, **options: Any
) -> Any:
    """What :func:`clearhead.attention` returns, for a call that ``needs_torch``.

    ``options`` are mask, bias, scale, softcap and sinks as they were given; ``call`` is what they
    mean. Raises ``MemoryLimitError`` where the scores cannot fit in memory.
    """
    plain = call.bias is None and call.alibi is None and call.softcap is None and call.sinks is None
    if query.device.type == "cpu":
        _check_memory(call, plain and observe is None)
    # Behind a mask 0 x NaN would reach a gradient: only the plain steps keep it out.
    if plain and (call.mask.everything or selection.is_finite(query, key, value)):
        out = differentiable_attention(
            query, key, value, mask=call.mask, scale=call.scale, sizes=call.sizes
        )
        if observe is None:
            return out
        # The output stays the same, bit for bit; what is seen has its gradient too.
        return out, steps.attention(query, key, value, observe=observe, **options)[1]
    return steps.attention(query, key, value, observe=observe, **options)


def differentiable_attention(
    query: Any, key: Any, value: Any, *, mask: ResolvedMask, scale: float, sizes: Sizes
) -> Any:
    """Attention with masks and a scale; bias, softcap and sinks are the caller's to refuse.

    A query that may look at nothing gives 0 and no gradient, and what nobody may look at has none.

    Args:
        query: (..., H, N, d_k)
        key: (..., H_kv, M, d_k)
        value: (..., H_kv, M, d_v)

    Returns:
        (..., H, N, d_v), differentiable.
    """
    if sizes.group > 1:
        key = key.repeat_interleave(sizes.group, dim=-3)
        value = value.repeat_interleave(sizes.group, dim=-3)
    kind = query.dtype
    short = sizes.queries * sizes.keys <= _SHORT or forward_ad._current_level >= 0
    if short and kind in (torch.float16, torch.bfloat16) and not _may_round(query):
        # Products that round to float16 overflow before the scale, those of bfloat16 keep 8 bits.
        query, key, value = query.float(), key.float(), value.float()
    if mask.everything:
        if not short:
            return torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=scale)
        return (torch.softmax(query @ key.transpose(-1, -2) * scale, -1) @ value).to(kind)
    may, live_query, live_key = _dense(mask, sizes, query)
    # Selecting: 0 x NaN would be NaN, forward and backward.
    dead_queries = not bool(live_query.all())
    if dead_queries:
        query, may = query.where(live_query, 0.0), may | ~live_query  # no row of −inf alone
    if not bool(live_key.all()):
        key, value = key.where(live_key, 0.0), value.where(live_key, 0.0)
    if short:
        scores = (query @ key.transpose(-1, -2) * scale).masked_fill(~may, -torch.inf)
        out = (torch.softmax(scores, -1) @ value).to(kind)
    else:
        out = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=may, scale=scale
        )
    return out.where(live_query, 0.0) if dead_queries else out


def _check_memory(call: Call, plain: bool) -> None:
    """Refuse scores that cannot fit, before anything is touched; ``plain`` is without extras."""
    axes, size = call.sizes, 8 if observed_kind(call.kind) == "float64" else 4
    pairs = axes.samples * axes.queries * axes.keys
    if not plain:  # the steps hold about four of them, and who may look
        wanted = pairs * axes.heads * (4 * size + 1)
    elif axes.queries * axes.keys <= _SHORT:
        wanted = pairs * axes.heads * 2 * size
    else:  # the mask of each sample, as booleans and as numbers
        wanted = 0 if call.mask.only("key_lengths") else pairs * (1 + size)
    fits_in_memory(wanted, "attention with a gradient")


def _dense(mask: ResolvedMask, sizes: Sizes, like: Any) -> tuple[Any, Any, Any]:
    """The mask as booleans, which queries see anything, and which keys anybody sees."""
    shape = (*sizes.batch, sizes.heads, sizes.queries, sizes.keys)
    if mask.key_lengths is not None and mask.only("key_lengths"):  # padding: N times as small
        valid = torch.from_numpy(mask.key_lengths.copy())[:, None, None, None]
        found = torch.arange(sizes.keys) < valid
    else:
        found = in_library_of(mask.dense(sizes.queries, sizes.keys), torch.empty(0))
    found = found.to(like.device)
    batch = sizes.batch if found.shape[0] == sizes.samples else _ones(sizes)
    may = found.reshape((*batch, *found.shape[1:]))
    live_query = may.any(-1, keepdim=True)
    live_key = may.any(-2, keepdim=True).transpose(-1, -2)
    return (
        may.expand((*may.shape[: len(shape) - 2], may.shape[-2], sizes.keys)),
        live_query,
        live_key,
    )


def _ones(sizes: Sizes) -> tuple[int, ...]:
    return (1,) * len(sizes.batch)


def _may_round(like: Any) -> bool:
    """Whether the caller lets products round to the kind of ``like``, by ``torch.autocast``."""
    device = like.device.type
    return bool(
        torch.is_autocast_enabled(device) and torch.get_autocast_dtype(device) == like.dtype
    )
