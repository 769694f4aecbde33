"""Faults of other software, as kinds: sizes, widths and empty axes."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.core import steps


def normal(rng, *shapes, kind=np.float32):
    return [rng.standard_normal(shape).astype(kind) for shape in shapes]


def close(out, q, k, v, atol=2e-6, **options):
    """Whether the output is that of the plain steps in float64."""
    exact = [x.astype(np.float64) for x in (q, k, v)]
    expected = steps.attention(*exact, **options)
    np.testing.assert_allclose(np.asarray(out).astype(np.float64), expected, rtol=atol, atol=atol)


@pytest.mark.parametrize(
    "batch_and_heads",
    [(65536, 1), (1, 65536), (700, 100)],
    ids=lambda sizes: "x".join(map(str, sizes)),
)
def test_more_heads_than_sixteen_bits_count(attention, rng, batch_and_heads):
    q, k, v = normal(rng, *[(*batch_and_heads, n, 2) for n in (1, 3, 3)])
    out = attention(q, k, v)
    axis = int(batch_and_heads[0] == 1)
    half = batch_and_heads[axis] // 2
    pick = (slice(None),) * axis
    first, second = (
        attention(*(x[(*pick, part)] for x in (q, k, v)))
        for part in (slice(None, half), slice(half, None))
    )
    np.testing.assert_allclose(out, np.concatenate([first, second], axis), rtol=0, atol=1e-6)


def test_more_queries_than_a_grid_of_tiles_can_count(attention):
    count = 64 * 65535 + 1
    q = np.ones((1, 1, count, 1), np.float32)
    out = attention(q, q[:, :, :2], np.array([1.0, 3.0], np.float32).reshape(1, 1, 2, 1))
    assert out.shape == (1, 1, count, 1)
    assert (out == 2).all()


def test_no_empty_axis_ends_the_process():
    """Each axis 0 in turn, in a process of its own: no axis may end it."""
    code = """
        import numpy as np, clearhead as ch
        for axis in "BHNMDV":
            size = dict(B=2, H=2, N=3, M=4, D=5, V=6) | {axis: 0}
            q, k, v = (np.zeros([size[a] for a in axes]) for axes in ("BHND", "BHMD", "BHMV"))
            observe = ch.Observe(top=2, entropy=True, received=True, map=2)
            out, seen = ch.attention(q, k, v, observe=observe)
            assert out.shape == tuple(size[a] for a in "BHNV"), axis
            assert not out.any(), axis
        try:
            ch.attention(np.zeros((1, 2, 3, 4)), np.zeros((1, 0, 3, 4)), np.zeros((1, 0, 3, 4)))
        except ch.ClearheadError as error:
            assert "found 2 and 0" in str(error)
        else:
            raise SystemExit("two query heads beside no key head were taken")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


@pytest.mark.parametrize("observe", [None, ch.Observe(weights=True), ch.Observe(lse=True)], ids=str)
@pytest.mark.parametrize("mask", [None, ch.causal(align="end"), ch.lengths(keys=[])], ids=str)
def test_an_empty_batch_is_no_error_forwards_or_backwards(attention, observe, mask):
    q = torch.zeros(0, 2, 5, 8, requires_grad=True)
    k = torch.zeros(0, 2, 7, 8, requires_grad=True)
    found = attention(q, k, k, mask=mask, observe=observe)
    out = found if observe is None else found[0]
    assert tuple(out.shape) == (0, 2, 5, 8)
    out.sum().backward()
    assert tuple(q.grad.shape) == (0, 2, 5, 8)
    assert tuple(k.grad.shape) == (0, 2, 7, 8)


def test_without_columns_every_score_is_zero(attention):
    """d_k = 0: the sum over no columns is 0, so all keys weigh the same."""
    q, k, v = np.zeros((1, 1, 2, 0)), np.zeros((1, 1, 3, 0)), np.arange(3.0).reshape(1, 1, 3, 1)
    assert attention(q, k, v).reshape(-1).tolist() == [1, 1]


def test_lengths_of_zero_and_one_with_grouped_heads(attention, rng):
    """Queries [1, 0, 1], keys [3, 0, 5]: each sample as if alone."""
    q, k, v = normal(rng, (3, 9, 1, 4), (3, 3, 5, 4), (3, 3, 5, 4), kind=np.float64)
    queries, keys = [1, 0, 1], [3, 0, 5]
    out = attention(q, k, v, mask=ch.lengths(keys=keys, queries=queries))
    for b, (n, m) in enumerate(zip(queries, keys, strict=True)):
        alone = attention(q[b, :, :n], k[b, :, :m], v[b, :, :m])
        np.testing.assert_allclose(out[b, :, :n], alone, atol=1e-12)
        assert (out[b, :, n:] == 0).all()


def test_keys_without_queries_get_a_gradient_of_zero(attention, rng):
    q, k, v = (
        torch.tensor(rng.standard_normal((2, 1, n, 256)), requires_grad=True) for n in (4, 6, 6)
    )
    out = attention(q, k, v, mask=ch.lengths(queries=[0, 4], keys=[6, 4]))
    for leaf in (q, k, v):
        leaf.grad = torch.zeros_like(leaf)
    out.sum().backward()
    assert (k.grad[0] == 0).all()
    assert (v.grad[0] == 0).all()
    assert (k.grad[1, :, 4:] == 0).all()
    assert torch.isfinite(k.grad).all()


WIDTHS = [1, 2, 3, 5, 31, 63, 65, 72, 80, 96, 100, 128, 192, 256, 257, 512]


@pytest.mark.parametrize("d_k", WIDTHS)
def test_any_width_of_keys_and_values(attention, rng, d_k):
    for d_v in {1, 7, d_k, 64, 130}:
        q, k, v = normal(rng, (1, 2, 9, d_k), (1, 1, 37, d_k), (1, 1, 37, d_v))
        close(attention(q, k, v, mask=ch.causal(align="end")), q, k, v, mask=ch.causal(align="end"))


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_an_odd_width_in_half_precision_is_finite_in_and_out_of_training(attention, kind, grad):
    q, k, v = (torch.randn(2, 4, 5, 6).to(kind).requires_grad_(grad) for _ in "qkv")
    out = attention(q, k, v)
    exact = steps.attention(*(x.detach().double() for x in (q, k, v)))
    torch.testing.assert_close(out.double(), exact, atol=2e-2, rtol=2e-2)


@pytest.mark.parametrize(("d_k", "d_v"), [(128, 64), (8, 24)])
def test_the_scale_is_that_of_the_keys_and_not_of_the_values(attention, rng, d_k, d_v):
    q, k, v = normal(rng, (2, 2, 5, d_k), (2, 2, 7, d_k), (2, 2, 7, d_v))
    out = attention(q, k, v)
    assert out.shape == (2, 2, 5, d_v)
    close(out, q, k, v, scale=d_k**-0.5)


@pytest.mark.parametrize("keys", [1, 31, 33, 38, 70, 129, 137])
@pytest.mark.parametrize("queries", [1, 33, 70])
@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_nothing_beyond_the_end_is_read(attention, rng, keys, queries, kind):
    """Every array is a view into a buffer whose tail is NaN."""
    tails = [(0, 0), (0, 0), (0, 40), (0, 9)]
    q, k, v = (
        np.pad(x, tails, constant_values=np.nan)[:, :, : x.shape[2], : x.shape[3]]
        for x in normal(rng, *[(1, 2, n, 20) for n in (queries, keys, keys)], kind=kind)
    )
    observe = ch.Observe(top=3, entropy=True, received=True)
    for mask in (None, ch.causal(align="end"), ch.lengths(keys=[max(1, keys - 2)])):
        out, seen = attention(q, k, v, mask=mask, observe=observe)
        close(out, q, k, v, mask=mask, atol=2e-6 if kind is np.float32 else 2e-3)
        assert np.isfinite(seen.entropy).all()
        assert np.isfinite(seen.received).all()


@pytest.mark.parametrize("batch", [(), (1,), (2, 3), (2, 1, 3)], ids=str)
def test_any_number_of_batch_axes_is_the_flattened_call(attention, rng, batch):
    q, k, v = normal(rng, *[(*batch, 2, n, 4) for n in (5, 7, 7)])
    may = rng.random((*batch, 1, 5, 7)) < 0.7
    count = int(np.prod(batch))
    lengths = rng.integers(0, 8, batch) if batch else 4
    mask = ch.lengths(keys=lengths) & may
    out, seen = attention(q, k, v, mask=mask, observe=ch.Observe(top=2, lse=True))
    flat_mask = ch.lengths(keys=np.reshape(lengths, count)) & may.reshape(count, 1, 5, 7)
    flat, flat_seen = attention(
        *(x.reshape(count, 2, *x.shape[-2:]) for x in (q, k, v)), mask=flat_mask,
        observe=ch.Observe(top=2, lse=True),
    )  # fmt: skip
    assert out.shape == (*batch, 2, 5, 4)
    np.testing.assert_allclose(out.reshape(flat.shape), flat, atol=1e-6)
    assert seen.top_keys.shape == (*batch, 2, 5, 2)
    assert (seen.top_keys.reshape(count, 2, 5, 2) == flat_seen.top_keys).all()
    if attention is not steps.attention:
        assert out.tobytes() == flat.tobytes()


@pytest.mark.parametrize(
    "mask",
    [
        ch.lengths(keys=[768]),
        ch.lengths(keys=[[10], [20]]),
        ch.segments([0, 1]),
        ch.lengths(queries=9),
    ],
    ids=str,
)
def test_lengths_that_contradict_the_arrays_are_refused_before_anything_runs(attention, mask):
    x = np.zeros((1, 1, 8, 4), np.float32)
    with pytest.raises(ValueError, match="found"):
        attention(x, x, x, mask=mask)
