import ctypes
import re
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import clearhead as ch
from clearhead import _native
from clearhead.core import handing
from clearhead.errors import KindError
from clearhead.inputs.resolved import CONDITIONS, ResolvedMask


def test_arrays_are_handed_over_where_they_lie():
    array = np.zeros((2, 3), np.float32)
    assert handing.handed(array) is array
    half = np.zeros((2, 3), ml_dtypes.bfloat16)
    assert handing.handed(half).ctypes.data == half.ctypes.data
    tensor = torch.zeros(4, 3)[::2].T
    assert handing.handed(tensor) == (tensor.data_ptr(), (3, 2), (1, 6))


def test_every_condition_of_a_mask_is_handed_over_in_the_order_of_the_header():
    mask = ResolvedMask(**{name: name for name in CONDITIONS})
    header = (Path(__file__).parents[2] / "native" / "attention.h").read_text()
    told = re.search(r"struct Mask \{(.*?)\n\};", header, re.DOTALL)[1]
    places = [told.index(f" {name}") for name in mask.handed]
    assert places == sorted(places)


def test_an_empty_tensor_is_not_an_absent_one():
    address, shape, _ = handing.handed(torch.zeros(0, 3))
    assert address != 0
    assert tuple(shape) == (0, 3)


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_a_tensor_that_only_describes_is_refused():
    with FakeTensorMode():
        x = torch.zeros(1, 2, 3, 4)
    with pytest.raises(KindError, match="without memory"):
        ch.attention(x, x, x)


def test_a_tensor_that_carries_its_sign_as_a_flag_is_read_as_it_shows():
    x = torch.randn(3, 1, 2, 300, 64, generator=torch.Generator().manual_seed(0))
    q, k, v = x
    flagged = torch.complex(q, q).conj().imag
    assert flagged.is_neg()
    assert torch.equal(ch.attention(flagged, k, v), ch.attention(-q, k, v))
    assert torch.equal(ch.attention(q, flagged, v), ch.attention(q, -q, v))


def test_a_request_put_together_for_another_build_is_refused():
    x = np.zeros((1, 1, 2, 4), np.float32)
    for mask, extras, observe in (((None,) * 8, None, None), (None, (None,) * 4, None)):
        with pytest.raises(ValueError, match="another size; build the native part anew"):
            _native.attention(0, x, x, x, x.copy(), 1.0, 0.0, mask, extras, observe)


def test_a_mask_is_handed_over_beside_the_shape_of_the_output():
    low, high, *others = handing.handed_mask(ch.causal(align="end"), (2, 4, 3, 8), 5)
    assert high.tolist() == [2, 2]
    assert low.shape == (2,)
    assert others == [None] * 5
    assert handing.handed_mask(ch.Mask(), (2, 4, 3, 8), 5) is None


def test_a_torch_that_offers_no_table_of_functions_is_looked_at_in_python():
    handing.introduce.__wrapped__(SimpleNamespace(Tensor=object))
    with pytest.raises(ValueError, match="PyCapsule"):
        _native.use_torch(object, "no capsule")


def test_a_table_of_another_version_is_not_used():
    table = (ctypes.c_uint32 * 16)(2, *[1] * 15)  # major version 2, functions at addresses unknown
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    _native.use_torch(object, new(ctypes.addressof(table), b"dlpack_exchange_api", None))
    one = object()
    assert _native.plain(one, one, one, None, None, None) is None
