"""Plain calls are looked at natively: the same bits, whatever library and layout."""

from dataclasses import fields

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead as ch
from support.cases import KINDS, draw
from support.plain import as_tensors, drawn, general, plain, same_bits


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(30))
def test_random_plain_calls_have_the_same_bits(seed, kind):
    case = draw(seed + 500, kind)
    options = {name: case.options[name] for name in ("mask", "scale") if name in case.options}
    for arrays in (case.arrays(), as_tensors(case.arrays())):
        out, wanted = ch.attention(*arrays, **options), general(*arrays, **options)
        assert type(out) is type(wanted)
        assert out.dtype == wanted.dtype
        assert out.shape == wanted.shape
        assert same_bits(out, wanted)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("batch", [(), (3,), (2, 1, 2)])
def test_dense_calls_take_the_short_way(rng, kind, batch):
    arrays = drawn(rng, kind, batch=batch)
    tensors = as_tensors(arrays)
    ch.attention(*tensors)  # from the first tensor on torch is known
    masks = [None, ch.causal(align="end"), ch.lengths(keys=7), np.ones((5, 9), bool)]
    for mask in masks:
        for scale in (None, 0.3, -2.0):
            assert plain(*arrays, scale, mask) is not None
            assert plain(*tensors, scale, mask) is not None


def test_any_strides_take_it_too(rng):
    q, k, v = (rng.standard_normal((2, 7, 3, 16)).astype(np.float32) for _ in range(3))
    for turn in (lambda x: x.swapaxes(1, 2), lambda x: x[:, ::-2, :, ::2], lambda x: x.T):
        arrays = [turn(x) for x in (q, k, v)]
        assert same_bits(plain(*arrays), general(*arrays))
    shared = [np.broadcast_to(x[:1], x.shape) for x in (q, k, v)]
    assert same_bits(plain(*shared), general(*shared))
    tensors = [torch.from_numpy(x).transpose(1, 2) for x in (q, k, v)]
    ch.attention(*tensors)
    assert same_bits(plain(*tensors), general(*tensors))


def test_read_only_arrays_are_read(rng):
    arrays = drawn(rng, np.float32)
    wanted = ch.attention(*arrays)
    for x in arrays:
        x.flags.writeable = False
    assert same_bits(plain(*arrays), wanted)
    assert wanted.flags.writeable


def test_numbers_of_other_types_are_scales_too(rng):
    arrays = drawn(rng, np.float32)
    wanted = plain(*arrays, 2.0)
    for scale in (2, np.float32(2), np.float64(2), torch.tensor(2.0)):
        assert same_bits(ch.attention(*arrays, scale=scale), wanted)


def test_the_output_is_on_the_cpu_whatever_the_default_is(rng):
    tensors = as_tensors(drawn(rng, np.float32))
    wanted = ch.attention(*tensors)
    with torch.device("meta"):
        out = ch.attention(*tensors)
        seen = ch.attention(*tensors, observe=ch.Observe(lse=True))[0]
    assert torch.equal(out, wanted)
    assert torch.equal(seen, wanted)


def test_bfloat16_of_numpy_is_looked_at_too(rng):
    arrays = drawn(rng, ml_dtypes.bfloat16)
    assert plain(*arrays).dtype == ml_dtypes.bfloat16


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mask", [None, ch.causal(align="end")])
def test_a_compiled_function_goes_round_it(rng, mask):
    tensors = as_tensors(drawn(rng, np.float32))
    compiled = torch.compile(lambda *one: ch.attention(*one, mask=mask) + 1, backend="eager")
    assert torch.equal(compiled(*tensors), ch.attention(*tensors, mask=mask) + 1)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "observe",
    [ch.Observe(), ch.Observe(top=3), ch.Observe(top=8, entropy=True, lse=True)],
    ids=repr,
)
def test_what_goes_by_is_seen_on_the_short_way_too(rng, kind, observe):
    arrays = drawn(rng, kind)
    for given in (arrays, as_tensors(arrays)):
        for mask in (None, ch.causal(align="end") & ch.lengths(keys=[9, 4])):
            out, seen = ch.attention(*given, mask=mask, observe=observe)
            wanted, held = general(*given, mask=mask, observe=observe)
            assert same_bits(out, wanted)
            for name in (field.name for field in fields(seen)):
                found, right = getattr(seen, name), getattr(held, name)
                assert type(found) is type(right)
                assert right is None or (found.dtype == right.dtype and same_bits(found, right))
