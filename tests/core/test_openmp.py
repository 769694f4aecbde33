"""One team of threads with torch, whichever comes first; one thread where there is no OpenMP."""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest

from clearhead.core.openmp import openmp_of_torch

USE = {
    "ours": """
        import numpy as np, clearhead as ch
        ch.set_threads(2)
        x = np.random.default_rng(0).standard_normal((8, 300, 64)).astype(np.float32)
        print("bits", hash(ch.attention(x, x, x).tobytes()))
        """,
    "torch": """
        import torch
        torch.set_num_threads(2)
        torch.softmax(torch.randn(2000, 1000), -1)
        """,
    "another copy": """
        import ctypes, os
        ctypes.CDLL(os.environ["COPY"])
        """,
}
LIST = """
    lines = [line.split() for line in open("/proc/self/maps")]
    for path in sorted({line[-1] for line in lines if "gomp" in line[-1]}):
        print("copy", path)
    """


def in_turn(*uses, **environment):
    """({what was printed}, the copies of libgomp in the process) after the uses in this order."""
    code = "\n".join(textwrap.dedent(USE[use]) for use in uses) + textwrap.dedent(LIST)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONHASHSEED": "0", **environment},
    )
    assert done.returncode == 0, done.stderr
    said = [line.partition(" ")[::2] for line in done.stdout.splitlines()]
    return (
        [text for name, text in said if name == "bits"],
        [os.path.realpath(text) for name, text in said if name == "copy"],
    )


@pytest.mark.parametrize("uses", [("ours", "torch"), ("torch", "ours"), ("ours",)])
def test_the_process_holds_the_one_team_of_torch(uses):
    _, copies = in_turn(*uses)
    assert copies == [os.path.realpath(openmp_of_torch())]


@pytest.fixture
def other_torch(tmp_path):
    """A folder with a package ``torch`` whose libgomp has a name of its own (some releases)."""
    folder = tmp_path / "torch" / "lib"
    folder.mkdir(parents=True)
    (tmp_path / "torch" / "__init__.py").write_text("")
    copy = folder / "libgomp-12ab34cd.so.1"
    shutil.copy(openmp_of_torch(), copy)
    subprocess.run(["patchelf", "--set-soname", copy.name, copy], check=True)
    return tmp_path, copy


@pytest.mark.parametrize("uses", [("ours",), ("another copy", "ours"), ("ours", "another copy")])
def test_a_copy_of_another_name_is_shared_too(other_torch, uses):
    folder, copy = other_torch
    path = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    _, copies = in_turn(*uses, PYTHONPATH=path, COPY=str(copy))
    assert copies == [str(copy)]


def test_without_any_everything_runs_on_one_thread(tmp_path):
    # What the loader finds under that name is no library; and no torch brings another.
    (tmp_path / "libgomp.so.1").write_bytes(b"")
    (tmp_path / "torch.py").write_text("")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    bits, copies = in_turn("ours", PYTHONPATH=path, LD_LIBRARY_PATH=str(tmp_path))
    assert copies == []
    assert bits == in_turn("ours")[0]


@pytest.mark.parametrize("found", ["none", "broken", "module"])
def test_a_torch_that_is_none_brings_nothing(found, monkeypatch):
    def find(name):
        if found == "broken":
            raise ValueError("torch.__spec__ is None")
        return None if found == "none" else type("Spec", (), {"submodule_search_locations": None})

    monkeypatch.setattr("clearhead.core.openmp.find_spec", find)
    assert openmp_of_torch() == ""


def test_the_library_beside_the_package_is_found(tmp_path, monkeypatch):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch.libs").mkdir()
    file = tmp_path / "torch.libs" / "libgomp-98765432.so.1.0.0"
    file.write_bytes(b"")
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path / "torch")]})
    monkeypatch.setattr("clearhead.core.openmp.find_spec", lambda name: spec)
    assert openmp_of_torch() == str(file)
