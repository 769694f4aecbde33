"""bfloat16 and float16: no further from float64 than torch, exact where they can be, to the bit.

``tests/native/test_isas.py`` runs this file again for each instruction set.
"""

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from support.cases import same_bits
from support.observations import everything

BFLOAT16 = ml_dtypes.bfloat16
sdpa = torch.nn.functional.scaled_dot_product_attention


def drawn(seed, kind, *shape):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator).to(kind) for _ in range(3)]


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sharp", [1, 8, 20])
def test_the_error_is_no_larger_than_torchs_in_the_mean_and_at_most(kind, causal, sharp):
    ours, of_torch = [], []
    for seed in range(6):
        q, k, v = drawn(seed, kind, 1, 4, 300, 64)
        options = {"scale": sharp / 8, "is_causal": causal}
        exact = sdpa(q.double(), k.double(), v.double(), **options)
        mask = ch.causal() if causal else None
        out = ch.attention(q, k, v, mask=mask, scale=sharp / 8)
        ours.append((out.double() - exact).abs())
        of_torch.append((sdpa(q, k, v, **options).double() - exact).abs())
    error, theirs = torch.stack(ours), torch.stack(of_torch)
    assert error.mean() <= theirs.mean()
    # The largest of each draw, in the mean: of one draw either may have the larger by chance.
    assert error.flatten(1).amax(1).mean() <= theirs.flatten(1).amax(1).mean()


@pytest.mark.parametrize("kind", [np.float16, BFLOAT16], ids=lambda kind: kind.__name__)
def test_what_is_seen_has_the_digits_of_float32(rng, kind):
    q, k, v = (rng.standard_normal((2, 3, 150, 33)).astype(kind) for _ in range(3))
    observe = everything(top=5)
    wide = [x.astype(np.float32) for x in (q, k, v)]
    for mask in (None, ch.window(9, 4)):
        _, seen = ch.attention(q, k, v, mask=mask, scale=1, observe=observe)
        _, right = ch.attention(*wide, mask=mask, scale=1, observe=observe)
        assert seen.lse.dtype == seen.weights.dtype == np.float32
        for name in ("lse", "entropy", "weights", "top_weights", "received"):
            np.testing.assert_allclose(
                getattr(seen, name), getattr(right, name), rtol=5e-5, atol=5e-6, err_msg=name
            )


@pytest.mark.parametrize("kind", [np.float16, BFLOAT16], ids=lambda kind: kind.__name__)
def test_a_weight_of_one_gives_its_value_back(rng, kind):
    v = rng.standard_normal((1, 200, 24)).astype(kind)
    k = np.zeros((1, 200, 2), kind)
    k[0, :, 0] = np.arange(200)  # every number up to 256 is one of bfloat16
    q = np.zeros((1, 3, 2), kind)
    q[0, :, 0] = 1, -1, 1
    mask = np.ones((3, 200), bool)
    mask[2, 131:] = False
    observe = ch.Observe(top=1)
    out, seen = ch.attention(q, k, v, mask=mask, scale=50, observe=observe)
    assert seen.top_keys[0, :, 0].tolist() == [199, 0, 130]
    assert (seen.top_weights == 1).all()
    assert same_bits(out, np.ascontiguousarray(v[:, [199, 0, 130]]))


def test_numbers_below_the_normal_range_count_as_zero(rng):
    q, k, v = (rng.standard_normal((1, 70, 16)).astype(BFLOAT16) for _ in range(3))
    for x in (q, k, v):
        x[0, 5] = 0
    zero, seen = ch.attention(q, k, v, mask=ch.causal(), observe=everything())
    for x in (q, k, v):
        x[0, 5] = np.array(1e-39, BFLOAT16)
        assert (x[0, 5] != 0).all()
    tiny, seen_tiny = ch.attention(q, k, v, mask=ch.causal(), observe=everything())
    assert same_bits(zero, tiny)
    assert same_bits(seen, seen_tiny)
    v[...] = np.array(1e-39, BFLOAT16)
    assert not ch.attention(q, k, v).any()


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [1, 3, 65, 131])
@pytest.mark.parametrize("mask", [ch.window(6, 2, offset=3), ch.window(0, 0, offset=1), None])
def test_a_neighbour_in_a_pair_that_nobody_may_see_changes_no_bit(rng, poison, n, mask):
    q, k, v = (rng.standard_normal((2, 2, n + 7, 19)).astype(BFLOAT16) for _ in range(3))
    q = q[:, :, :n]
    keys = [n, max(0, n - 4)]
    short = ch.lengths(keys=keys) if mask is None else ch.lengths(keys=keys) & mask
    observe = everything(top=3)
    clean, seen = ch.attention(q, k, v, mask=short, observe=observe)
    for sample, length in enumerate(keys):
        k[sample, :, length:] = v[sample, :, length:] = poison
    if mask is not None:
        k[:, :, 0] = v[:, :, 0] = poison  # seen by the first window, if by any
        after = slice(6, None)
    else:
        after = slice(0, None)
    out, seen_out = ch.attention(q, k, v, mask=short, observe=observe)
    assert same_bits(*(np.ascontiguousarray(x[:, :, after]) for x in (clean, out)))
    assert same_bits(*(np.ascontiguousarray(x.lse[:, :, after]) for x in (seen, seen_out)))
