"""Files that are truncated, or made to do harm."""

import json
import os
import struct

import numpy as np
import pytest
from safetensors.numpy import save_file

from clearhead.errors import ModelError
from clearhead.model.safetensors_file import TensorFile


def write(path, header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def entry(shape, start, end, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


@pytest.mark.parametrize(
    ("header", "data"),
    [
        ({"w": entry([2], 0, 8)}, b"\0" * 7),  # the data ends early
        ({"w": entry([2], 0, 8)}, b"\0" * 9),  # something hidden behind it
        ({"w": entry([2**62, 4], 0, 8)}, b"\0" * 8),  # a product that overflows
        ({"w": entry([2**40], 0, 2**42)}, b""),  # four terabytes
        ({"w": entry([2], 8, 0)}, b"\0" * 8),  # ends before it begins
        ({"w": entry([2], -8, 0)}, b"\0" * 8),
        ({"w": entry([-2], 0, 8)}, b"\0" * 8),
        ({"w": entry([3], 0, 8)}, b"\0" * 8),  # the shape needs more than the bytes
        ({"a": entry([2], 0, 8), "b": entry([2], 4, 12)}, b"\0" * 12),  # overlapping
        ({"w": entry([2], 0, 8, "X99")}, b"\0" * 8),
        ({"w": {"shape": [2]}}, b""),
        ({"w": 1}, b""),
        ([], b""),
        (b"", b""),
        (b"[" * 100_000, b""),
        (b"\xff\xfe", b""),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path, header, data):
    with pytest.raises(ModelError, match="is no whole safetensors file"):
        TensorFile(write(tmp_path / "w.safetensors", header, data))


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 40, -1])
def test_a_truncated_file_is_refused(tmp_path, length):
    path = tmp_path / "w.safetensors"
    save_file({"w": np.ones((4, 4), np.float32)}, path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ModelError, match="is no whole safetensors file"):
        TensorFile(path)


@pytest.mark.parametrize("claimed", [2**20, 2**40, 2**64 - 1])
def test_an_absurd_header_length_is_refused(tmp_path, claimed):
    path = tmp_path / "w.safetensors"
    path.write_bytes(struct.pack("<Q", claimed) + b"{}")
    with pytest.raises(ModelError, match="is no whole safetensors file"):
        TensorFile(path)


def test_a_pipe_and_a_folder_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(ModelError, match="is no regular file"):
            TensorFile(path)


def test_another_shape_than_wanted_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "w.safetensors"
    save_file({"w": np.ones((4, 4), np.float32)}, path)
    file = TensorFile(path)
    with pytest.raises(ModelError, match=r"has shape \(4, 4\); wanted \(4, 5\)"):
        file.read("w", (4, 5))
    with pytest.raises(ModelError, match="holds no tensor 'v'"):
        file.read("v")


def test_an_eight_bit_float_is_refused(tmp_path):
    path = write(tmp_path / "w.safetensors", {"w": entry([8], 0, 8, "F8_E4M3")}, b"\0" * 8)
    with pytest.raises(ModelError, match="'w'"):
        TensorFile(path).read_float32("w")
