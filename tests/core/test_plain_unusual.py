"""What is unusual or wrong goes the general way, where every error is made."""

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import clearhead as ch
from clearhead import _native
from support.plain import as_tensors, drawn, general, plain, same_bits


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
def test_nothing_of_an_axis_is_as_it_is_elsewhere(rng, heads, sizes, widths, batch):
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
def test_every_error_comes_from_the_general_way(rng, spoil):
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
def test_every_wrong_option_is_told_of_as_elsewhere(rng, options):
    arrays = drawn(rng, np.float32)
    with pytest.raises(ch.ClearheadError) as found:
        ch.attention(*arrays, **options)
    with pytest.raises(type(found.value)) as wanted:
        general(*arrays, **options)
    assert str(found.value) == str(wanted.value)


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


def test_large_outputs_go_the_general_way():
    x = np.zeros((1, 1 << 16, 65), np.float32)
    assert plain(x, x[:, :1], x[:, :1]) is None


def test_an_interrupt_while_the_mask_is_read_is_not_lost(rng):
    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _native.plain(*drawn(rng, np.float32), None, ch.causal(), interrupted)
