"""Plain calls are looked at natively: the same bits, the same errors, whatever comes in."""

import ml_dtypes
import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import clearhead as ch
from clearhead import _native
from clearhead.core import fused
from clearhead.core.handing import handed_mask
from clearhead.inputs.arrays import as_numpy
from support import cases
from support.cases import KINDS, draw


def same_bits(a, b):
    return cases.same_bits(as_numpy(a), as_numpy(b))


def plain(query, key, value, scale=None, mask=None):
    return _native.plain(query, key, value, scale, mask, handed_mask)


class General:
    """The native module without its short way."""

    def __getattr__(self, name):
        return (lambda *_: None) if name == "plain" else getattr(_native, name)


@pytest.fixture
def general(monkeypatch):
    """A call of ``attention`` that goes the general way."""

    def call(*arrays, **options):
        with monkeypatch.context() as patch:
            patch.setattr(fused, "native", General())
            return ch.attention(*arrays, **options)

    return call


def drawn(rng, kind, heads=(6, 3), sizes=(5, 9), widths=(20, 24), batch=(2,)):
    """Query, key and value as NumPy arrays."""
    (h, h_kv), (n, m), (d_k, d_v) = heads, sizes, widths
    shapes = (*batch, h, n, d_k), (*batch, h_kv, m, d_k), (*batch, h_kv, m, d_v)
    return [rng.standard_normal(shape).astype(kind) for shape in shapes]


def as_tensors(arrays):
    kind = str(arrays[0].dtype)
    return [torch.from_numpy(x.astype(np.float64)).to(getattr(torch, kind)) for x in arrays]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(30))
def test_random_plain_calls_have_the_same_bits(seed, kind, general):
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


def test_any_strides_take_it_too(rng, general):
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


@pytest.mark.parametrize(
    ("heads", "sizes", "widths", "batch"),
    [
        ((2, 2), (0, 3), (4, 4), (1,)),
        ((2, 2), (3, 0), (4, 4), (1,)),
        ((0, 0), (3, 3), (4, 4), (1,)),
        ((2, 2), (3, 3), (0, 4), (1,)),
        ((2, 2), (3, 3), (4, 0), (1,)),
        ((2, 2), (3, 3), (4, 4), (0,)),
    ],
)
def test_nothing_of_an_axis_is_as_it_is_elsewhere(rng, general, heads, sizes, widths, batch):
    arrays = drawn(rng, np.float32, heads, sizes, widths, batch)
    for given in (arrays, as_tensors(arrays)):
        out, wanted = ch.attention(*given), general(*given)
        assert out.shape == wanted.shape
        assert same_bits(out, wanted)


@pytest.mark.parametrize("spoil", [
    lambda q, k, v: (q[0], k, v),
    lambda q, k, v: (q[0, 0], k[0, 0], v[0, 0]),
    lambda q, k, v: (q, k[..., :-1], v),
    lambda q, k, v: (q, k[..., :-1, :], v),
    lambda q, k, v: (q[:1], k, v),
    lambda q, k, v: (q[:, :5], k, v),
    lambda q, k, v: (q, k[:, :0], v[:, :0]),
    lambda q, k, v: (q, k.astype(np.float64), v),
    lambda q, k, v: (q.astype(int), k.astype(int), v.astype(int)),
    lambda q, k, v: (q, k, v.astype(complex)),
    lambda q, k, v: (q, k, torch.from_numpy(v)),
    lambda q, k, v: (q.tolist(), k, v),
    lambda q, k, v: (q, None, v),
    lambda q, k, v: (q, k, np.ma.masked_array(v)),
    lambda q, k, v: tuple(x.astype(x.dtype.newbyteorder()) for x in (q, k, v)),
    lambda q, k, v: tuple(torch.from_numpy(x).to_sparse() for x in (q, k, v)),
    lambda q, k, v: tuple(torch.from_numpy(x).to(torch.float8_e5m2) for x in (q, k, v)),
    lambda q, k, v: tuple(torch.nested.nested_tensor([torch.from_numpy(x)]) for x in (q, k, v)),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_every_error_comes_from_the_general_way(rng, general, spoil):
    ch.attention(*as_tensors(drawn(rng, np.float32)))
    arrays = spoil(*drawn(rng, np.float32))
    assert plain(*arrays) is None
    with pytest.raises(ch.ClearheadError) as found:
        ch.attention(*arrays)
    with pytest.raises(type(found.value)) as wanted:
        general(*arrays)
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("options", [
    {"scale": float("nan")}, {"scale": float("inf")}, {"scale": 1e31}, {"scale": True},
    {"scale": "1"}, {"mask": ch.causal()}, {"mask": np.ones((5, 8), bool)},
    {"mask": np.ones((5, 9))}, {"mask": ch.lengths(keys=10)}, {"mask": "causal"},
    {"mask": ch.causal(offset=[1, 2, 3])}, {"softcap": -1.0}, {"observe": True},
])  # fmt: skip
def test_every_wrong_option_is_told_of_as_elsewhere(rng, general, options):
    arrays = drawn(rng, np.float32)
    with pytest.raises(ch.ClearheadError) as found:
        ch.attention(*arrays, **options)
    with pytest.raises(type(found.value)) as wanted:
        general(*arrays, **options)
    assert str(found.value) == str(wanted.value)


def test_numbers_of_other_types_are_scales_too(rng):
    arrays = drawn(rng, np.float32)
    wanted = plain(*arrays, 2.0)
    for scale in (2, np.float32(2), np.float64(2), torch.tensor(2.0)):
        assert same_bits(ch.attention(*arrays, scale=scale), wanted)


def test_a_gradient_is_given_where_it_is_wanted(rng):
    tensors = as_tensors(drawn(rng, np.float32))
    wanted = ch.attention(*tensors)
    for i in range(3):
        learned = [x.clone().requires_grad_(i == j) for j, x in enumerate(tensors)]
        assert plain(*learned) is None
        out = ch.attention(*learned)
        assert out.requires_grad
        torch.testing.assert_close(out, wanted, rtol=1e-5, atol=1e-5)
        with torch.no_grad():
            assert torch.equal(ch.attention(*learned), wanted)
        parameter = [torch.nn.Parameter(x) if i == j else x for j, x in enumerate(tensors)]
        assert plain(*parameter) is None
        assert ch.attention(*parameter).requires_grad


class Tensor(torch.Tensor):
    """A subclass that changes nothing."""


class Ndarray(np.ndarray):
    """A subclass that changes nothing."""


def test_subclasses_go_the_general_way(rng):
    arrays = drawn(rng, np.float32)
    tensors = as_tensors(arrays)
    wanted = ch.attention(*arrays)
    for given in ([x.view(Ndarray) for x in arrays], [x.as_subclass(Tensor) for x in tensors]):
        assert plain(*given) is None
        assert same_bits(ch.attention(*given), wanted)
        assert plain(arrays[0], *given[1:]) is None


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_tensors_without_numbers_go_the_general_way(rng):
    tensors = as_tensors(drawn(rng, np.float32))
    ch.attention(*tensors)
    assert plain(*[x.to("meta") for x in tensors]) is None
    with FakeTensorMode():
        assert plain(*[torch.zeros(1, 2, 3, 4) for _ in range(3)]) is None
    seen = []

    def look(*one):
        seen.append(plain(*one))
        return one[0]

    torch.func.vmap(look)(*tensors)
    torch.func.grad(lambda *one: look(*one).sum())(*tensors)
    assert seen == [None, None]


def test_a_sign_that_is_a_flag_goes_the_general_way(rng):
    q, k, v = as_tensors(drawn(rng, np.float32))
    wanted = ch.attention(-q, k, v)
    negated = torch._neg_view(q)
    assert plain(negated, k, v) is None
    assert torch.equal(ch.attention(negated, k, v), wanted)


def test_fields_of_packed_records_go_the_general_way(rng):
    packed = np.zeros((2, 3, 5), np.dtype([("one", "i1"), ("x", "f4", 8)], align=False))
    packed["x"] = rng.standard_normal((2, 3, 5, 8))
    x = packed["x"]
    assert plain(x, x, x) is None
    assert same_bits(ch.attention(x, x, x), ch.attention(*[x.copy()] * 3))


def test_the_output_is_on_the_cpu_whatever_the_default_is(rng):
    tensors = as_tensors(drawn(rng, np.float32))
    wanted = ch.attention(*tensors)
    with torch.device("meta"):
        out = ch.attention(*tensors)
        seen = ch.attention(*tensors, observe=ch.Observe(lse=True))[0]
    assert torch.equal(out, wanted)
    assert torch.equal(seen, wanted)


def test_large_outputs_go_the_general_way():
    x = np.zeros((1, 1 << 16, 65), np.float32)
    assert plain(x, x[:, :1], x[:, :1]) is None


def test_an_interrupt_while_the_mask_is_read_is_not_lost(rng):
    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _native.plain(*drawn(rng, np.float32), None, ch.causal(), interrupted)


def test_bfloat16_of_numpy_is_looked_at_too(rng):
    arrays = drawn(rng, ml_dtypes.bfloat16)
    assert plain(*arrays).dtype == ml_dtypes.bfloat16


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mask", [None, ch.causal(align="end")])
def test_a_compiled_function_goes_round_it(rng, mask):
    tensors = as_tensors(drawn(rng, np.float32))
    compiled = torch.compile(lambda *one: ch.attention(*one, mask=mask) + 1, backend="eager")
    assert torch.equal(compiled(*tensors), ch.attention(*tensors, mask=mask) + 1)
