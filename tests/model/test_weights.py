"""Model folders: what is written is read, and what is damaged is refused in one clear line."""

import json
import os
import pickle
import struct
import threading

import numpy as np
import pytest
from ml_dtypes import bfloat16
from safetensors.numpy import load_file, save_file

from clearhead.errors import ModelError
from clearhead.model.tree import flatten
from clearhead.model.vocabulary import Vocabulary
from clearhead.model.weights import (
    dequantised,
    load_model,
    quantised,
    save_model,
    write_arrays,
)


@pytest.fixture
def folder(tmp_path, config, vocabulary, weights):
    save_model(tmp_path / "model", config, vocabulary, weights, card="# Card\n")
    return tmp_path / "model"


def refused(folder, *words):
    """Loading fails with one line that names the file."""
    with pytest.raises(ModelError) as caught:
        load_model(folder)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def rewritten(folder, change):
    """The weights' file with its arrays changed."""
    arrays = load_file(folder / "model.safetensors")
    change(arrays)
    save_file(arrays, folder / "model.safetensors")


def test_a_model_comes_back_within_half_a_step_of_each_row(folder, config, vocabulary, weights):
    found_config, found_vocabulary, found = load_model(folder)
    assert found_config == config
    assert found_vocabulary.encode("The cat!").ids == vocabulary.encode("The cat!").ids
    flat = flatten(found)
    for name, wanted in flatten(weights).items():
        assert flat[name].dtype == np.float32
        half = np.abs(wanted).max(axis=-1, keepdims=True) / 127 / 2 if wanted.ndim == 2 else 0
        assert (np.abs(flat[name] - wanted) <= half * 1.0001 + 1e-7).all()
    assert (folder / "README.md").read_text() == "# Card\n"
    assert sorted(p.name for p in folder.iterdir()) == [
        "README.md", "config.json", "model.safetensors", "vocabulary.json",
    ]  # fmt: skip


def test_writing_again_changes_nothing(folder, tmp_path):
    """Rounding to the nearest is stable: packing what was packed gives the same file."""
    save_model(tmp_path / "again", *load_model(folder))
    a, b = (load_file(p / "model.safetensors") for p in (folder, tmp_path / "again"))
    for name, array in a.items():
        np.testing.assert_allclose(b[name], array, rtol=1e-6)


def test_rounding_is_to_the_nearest_and_rows_of_zeros_stay():
    arrays = {"w": np.array([[1.27, 0.0149, -0.0151], [0, 0, 0]], np.float32)}
    small = quantised(arrays)
    assert small["w"].tolist() == [[127, 1, -2], [0, 0, 0]]
    np.testing.assert_allclose(dequantised(small)["w"][1], 0)


@pytest.mark.parametrize("kind", [np.float32, np.float16, bfloat16, np.float64])
def test_plain_floats_are_read_too(kind):
    found = dequantised({"w": np.ones((2, 2), kind)})["w"]
    assert found.dtype == np.float32
    assert found.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("name", ["config.json", "vocabulary.json", "model.safetensors"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    refused(folder, name, "it is no model folder")


def test_no_folder_at_all(tmp_path):
    refused(tmp_path / "nowhere", "nowhere is no folder")


@pytest.mark.parametrize("name", ["config.json", "vocabulary.json", "model.safetensors"])
@pytest.mark.parametrize("keep", [0, 1, 7, 8, 9, 100, 0.5, 0.98])
def test_a_file_that_is_cut_off_is_named(folder, name, keep):
    whole = (folder / name).read_bytes()
    kept = keep if isinstance(keep, int) else int(len(whole) * keep)
    (folder / name).write_bytes(whole[:kept])
    refused(folder, name)


@pytest.mark.parametrize("name", ["config.json", "vocabulary.json", "model.safetensors"])
@pytest.mark.parametrize(
    "held",
    [b"\x80\x04.", b"PK\x03\x04" + b"\0" * 100, b"\xff" * 64, b"{}", b"[]", b"null", b"\0" * 1000],
)
def test_a_foreign_file_is_named(folder, name, held):
    (folder / name).write_bytes(held)
    refused(folder, name)


def header(entries):
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text


@pytest.mark.parametrize(
    "held",
    [
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2**40) + b"{}",
        header({"w": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 8]}}),
        header({"w": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 0]}}),
        header({"w": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}) + b"\0" * 4,
        header({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 10**12]}}),
        header({"w": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}) + b"\0" * 4,
        header({"w": {"dtype": "EVIL", "shape": [1], "data_offsets": [0, 4]}}) + b"\0" * 4,
        header({"w": {"dtype": "F32", "shape": [], "data_offsets": [0, 8]}}) + b"\0" * 8,
        struct.pack("<Q", 100_000) + b"[" * 100_000,
    ],
)
def test_a_header_that_claims_what_is_not_there_is_refused(folder, held):
    (folder / "model.safetensors").write_bytes(held)
    refused(folder, "model.safetensors")


def test_a_pickle_is_never_run(folder, tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "was-here"), "w"))

    for name in ("config.json", "vocabulary.json", "model.safetensors"):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(pickle.dumps(Evil()))
        refused(folder, name)
        (folder / name).write_bytes(whole)
    assert not (tmp_path / "was-here").exists()


def test_a_pipe_is_refused_and_not_waited_for(folder):
    (folder / "model.safetensors").unlink()
    os.mkfifo(folder / "model.safetensors")
    loading = threading.Thread(target=refused, args=(folder, "model.safetensors"))
    loading.start()
    loading.join(20)
    assert not loading.is_alive()


def test_missing_foreign_and_misshapen_weights_are_named(folder):
    def change(arrays):
        del arrays["encoder.0.attention.w_q"]
        arrays["extra"] = np.zeros(3, np.float32)
        arrays["encoder_norm"] = np.zeros(5, np.float32)

    rewritten(folder, change)
    refused(
        folder, "model.safetensors does not fit config.json", "encoder.0.attention.w_q is missing",
        "extra is not of this model", "encoder_norm has shape (5,), wanted (32,)",
    )  # fmt: skip


def test_of_many_faults_the_first_are_named_and_the_rest_counted(folder):
    rewritten(folder, dict.clear)
    refused(folder, "embedding is missing", "more")


def test_int8_rows_without_their_scales_are_refused(folder):
    rewritten(folder, lambda arrays: arrays.pop("embedding.scale"))
    refused(folder, "embedding has int8 rows without a float32 embedding.scale")


@pytest.mark.parametrize("name", ["encoder_norm", "embedding.scale"])
def test_numbers_that_are_none_are_refused(folder, name):
    def change(arrays):
        arrays[name] = np.full_like(arrays[name], np.nan)

    rewritten(folder, change)
    refused(folder, "model.safetensors", "holds NaN or infinity")


def test_weights_of_a_foreign_kind_are_refused(folder):
    def change(arrays):
        arrays["encoder_norm"] = np.ones(32, np.int32)

    rewritten(folder, change)
    refused(folder, "encoder_norm is of kind int32")


def test_sizes_beyond_reason_are_refused_before_anything_is_made(folder):
    held = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**held, "encoder_layers": 10**9}))
    refused(folder, "config.json", "encoder_layers: found 1000000000")


def test_a_vocabulary_of_another_size_is_refused(folder, vocabulary):
    Vocabulary.learn(["another text"] * 9, size=290, languages=("fr", "de")).save(
        folder / "vocabulary.json"
    )
    refused(folder, "vocabulary.json", "config.json says")


def test_a_language_that_the_vocabulary_lacks_is_refused(folder):
    held = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**held, "languages": ["fr", "xx"]}))
    refused(folder, "'xx'")


def test_what_was_there_stays_whole_where_nothing_can_be_written(tmp_path):
    path = tmp_path / "model.safetensors"
    write_arrays(path, {"w": np.ones(3, np.float32)}, {})
    before = path.read_bytes()
    (tmp_path / "model.safetensors.part").mkdir()  # whoever runs the tests may write anywhere
    with pytest.raises(ModelError, match=r"model\.safetensors cannot be written"):
        write_arrays(path, {"w": np.zeros(3, np.float32)}, {})
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path, config, vocabulary, weights):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot be made"):
        save_model(tmp_path / "file" / "model", config, vocabulary, weights)
