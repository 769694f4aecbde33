import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import torch

from clearhead.errors import KindError
from clearhead.inputs import arrays


def test_torch_is_asked_for_and_not_imported():
    code = (
        "import sys, numpy as np; from clearhead.inputs import arrays; "
        "arrays.is_torch(np.zeros(1)), arrays.is_torch([1]), arrays.kind(np.zeros(1)); "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_an_array():
    assert arrays.is_array(np.zeros(2))
    assert arrays.is_array(torch.zeros(2))
    assert not arrays.is_array([0.0])
    assert not arrays.is_array(np.ma.masked_array([0.0], [True]))


@pytest.mark.parametrize("name", arrays.KINDS)
def test_kind_is_named_the_same_in_both_libraries(name):
    dtype = ml_dtypes.bfloat16 if name == "bfloat16" else name
    assert arrays.kind(np.zeros(2, dtype)) == name
    assert arrays.kind(torch.zeros(2, dtype=getattr(torch, name))) == name


@pytest.mark.parametrize("dtype", ["int64", "bool", "complex64", ">f4", "float128", "U3", "O"])
def test_other_kinds_are_refused_by_name(dtype):
    with pytest.raises(KindError, match=r"query: found kind .*; wanted one of float32"):
        arrays.kind(np.zeros(2, dtype), "query")


def test_what_is_no_array_is_refused_with_the_next_step():
    with pytest.raises(KindError, match=r"key: found list; .* pass numpy.asarray\(key"):
        arrays.kind([1.0], "key")


def test_three_kinds_that_differ_are_listed_with_the_fix():
    q, k = torch.zeros(1, dtype=torch.bfloat16), torch.zeros(1)
    with pytest.raises(KindError) as error:
        arrays.same_kind(q, k, q)
    text = str(error.value)
    assert "query torch bfloat16, key torch float32, value torch bfloat16" in text
    assert "key.to(torch.bfloat16)" in text


def test_two_libraries_are_refused():
    with pytest.raises(KindError, match="value torch float32"):
        arrays.same_kind(np.zeros(1, np.float32), np.zeros(1, np.float32), torch.zeros(1))


def test_masked_arrays_are_refused_beside_plain_ones():
    x = np.zeros(2)
    with pytest.raises(KindError, match=r"key: found MaskedArray.*key.filled\(0\)"):
        arrays.same_kind(x, np.ma.masked_array(x), x)


@pytest.mark.parametrize("name", arrays.KINDS)
def test_libraries_share_memory_both_ways(name):
    tensor = torch.arange(4).to(getattr(torch, name))
    array = arrays.as_numpy(tensor)
    assert arrays.kind(array) == name
    assert arrays.address(array) == arrays.address(tensor)
    back = arrays.in_library_of(array, torch.zeros(1))
    assert arrays.address(back) == arrays.address(tensor)
    assert back.dtype == tensor.dtype


def test_read_only_and_backward_arrays_come_over_without_a_warning():
    array = np.arange(6.0).reshape(2, 3)[:, ::-1]
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    like = torch.zeros(1)
    assert arrays.in_library_of(array, like).tolist() == array.tolist()
    assert arrays.in_library_of(fixed, like).tolist() == [0, 1, 2]


def test_broadcast_axes_stay_broadcast():
    tensor = arrays.in_library_of(np.broadcast_to(np.arange(3.0), (1000, 3)), torch.zeros(1))
    assert tensor.shape == (1000, 3)
    assert tensor.stride(0) == 0


def test_fields_of_packed_records_are_copied_and_nothing_else():
    packed = np.zeros(4, [("flag", "i1"), ("x", "f4")])["x"]
    assert arrays.readable(packed).flags.aligned
    plain = np.zeros((4, 6), np.float32)[::-2, ::3]
    assert arrays.readable(plain) is plain


def test_a_sign_kept_as_a_flag_is_written_out():
    negative = torch.tensor([1 + 2j]).conj().imag
    assert negative.is_neg()
    assert arrays.as_numpy(negative).tolist() == [-2.0]
    assert not arrays.readable(negative).is_neg()


def test_observations_are_float32_unless_the_input_is_float64():
    assert [arrays.observed_kind(k) for k in arrays.KINDS] == [
        "float32", "float64", "float32", "float32",
    ]  # fmt: skip


def test_tensors_that_are_not_dense_are_refused():
    x = torch.zeros(1, 2, 3, 4)
    with pytest.raises(KindError, match=r"key: found a tensor of layout torch.sparse_coo"):
        arrays.same_kind(x, x.to_sparse(), x)
    nested = torch.nested.nested_tensor([x[0], x[0]], layout=torch.jagged)
    with pytest.raises(KindError, match="query: found a tensor of layout"):
        arrays.same_kind(nested, x, x)


def test_tensors_of_two_devices_are_refused_naming_them():
    x = torch.zeros(1, 2, 3, 4)
    with pytest.raises(KindError, match="found devices cpu, meta, cpu; wanted one device"):
        arrays.same_kind(x, x.to("meta"), x)


def test_what_is_an_array_does_not_depend_on_what_was_seen_before():
    masked = np.ma.masked_array(np.zeros(1, np.float32))
    for _ in range(2):
        for other in (masked, np.float32(1)):
            with pytest.raises(KindError, match="wanted a NumPy array or a torch tensor"):
                arrays.kind(other)
        arrays.kind(np.zeros(1, np.float32))
