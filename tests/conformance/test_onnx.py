"""The node cases of the ONNX Attention operator (versions 23 to 25), output Y, through an adapter.

The operator has its own words for our options: a float mask is a bias, a window side of −1 is open,
a softcap of 0 is none, a mask of three axes is per head, one that is too short hides the rest, and
causal begins behind the past. None of the 93 cases is skipped.
"""

import warnings

import numpy as np
import onnx
import pytest

import clearhead as ch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what the package's own generators warn about
    from onnx.backend.test.case.node import collect_testcases

    CASES = [c for c in collect_testcases("Attention") if not c.name.endswith("_expanded")]


def onnx_attention(
    attention,
    q,
    k,
    v,
    attn_mask=None,
    past_key=None,
    past_value=None,
    nonpad_kv_seqlen=None,
    *,
    is_causal=0,
    left_window_size=-1,
    right_window_size=-1,
    q_num_heads=None,
    kv_num_heads=None,
    scale=None,
    softcap=0.0,
    softmax_precision=None,  # ours is never below float32
    qk_matmul_output_mode=None,  # of another output than Y
):
    """Output Y of the operator, by ``attention``."""
    joined = q.ndim == 3
    if joined:  # (B, N, H · d) → (B, H, N, d)
        q, k, v = (
            np.swapaxes(x.reshape(*x.shape[:2], heads, -1), 1, 2)
            for x, heads in ((q, q_num_heads), (k, kv_num_heads), (v, kv_num_heads))
        )
    offset = {"offset": 0}
    if past_key is not None:
        offset = {"offset": past_key.shape[2]}
        k, v = np.concatenate([past_key, k], axis=2), np.concatenate([past_value, v], axis=2)
    mask, bias = ch.Mask(), None
    if nonpad_kv_seqlen is not None:
        offset = {"align": "end"}
        mask = mask & ch.lengths(keys=nonpad_kv_seqlen)
    if is_causal:
        mask = mask & ch.causal(**offset)
    if max(left_window_size, right_window_size) >= 0:
        sides = (None if side < 0 else side for side in (left_window_size, right_window_size))
        mask = mask & ch.window(*sides, **offset)
    if attn_mask is not None:
        boolean = attn_mask.dtype == np.bool_
        short = [(0, 0)] * (attn_mask.ndim - 1) + [(0, k.shape[2] - attn_mask.shape[-1])]
        whole = np.pad(attn_mask, short, constant_values=False if boolean else -np.inf)
        whole = whole.reshape((1,) * (4 - whole.ndim) + whole.shape)
        if boolean:
            mask = mask & whole
        else:
            bias = whole
    y = attention(q, k, v, mask=mask, bias=bias, scale=scale, softcap=softcap or None)
    return np.swapaxes(y, 1, 2).reshape(y.shape[0], y.shape[2], -1) if joined else y


def test_there_are_93_cases():
    assert onnx.__version__ == "1.23.2"
    assert len(CASES) == 93


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.removeprefix("test_attention_"))
def test_output_y(attention, case):
    node = case.model.graph.node[0]
    given, expected = case.data_sets[0]
    arrays = iter(given)
    inputs = [next(arrays) if name else None for name in node.input]
    options = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    y = onnx_attention(attention, *inputs, **options)
    assert y.dtype == expected[0].dtype
    # Expected values of half kinds were computed in that kind: they are off by some roundings.
    rounding = {"float16": 2**-10, "bfloat16": 2**-7}.get(y.dtype.name, 0.0)
    np.testing.assert_allclose(
        y.astype(np.float64),
        expected[0].astype(np.float64),
        rtol=max(case.rtol, 3 * rounding),
        atol=max(case.atol, rounding / 4),
    )
