"""The wheel of ``scripts/wheel``, installed where there is nothing but what it asks for."""

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
OURS = f"{sys.executable.rpartition('/')[0]}{os.pathsep}{os.environ['PATH']}"
SENTENCE = "The animal didn't cross the street because it was too tired."
CALL = """
import hashlib, numpy as np, clearhead as ch
x = np.random.default_rng(0).standard_normal((8, 300, 64)).astype(np.float32)
out, seen = ch.attention(x, x, x, mask=ch.causal(), observe=ch.Observe(top=3))
print(hashlib.sha256(out.tobytes() + seen.top_keys.tobytes()).hexdigest(), ch.__file__)
"""
COPIES = """
lines = [line.split() for line in open("/proc/self/maps")]
print(len({line[-1] for line in lines if "gomp" in line[-1]}))
"""


@pytest.fixture(scope="module")
def wheel():
    for old in (ROOT / "dist").glob("clearhead-*.whl"):
        old.unlink()
    done = subprocess.run(
        ["scripts/wheel"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
        env={**os.environ, "PATH": OURS, "PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stdout[-4000:]
    (found,) = (ROOT / "dist").glob("clearhead-*.whl")
    return found


def needed(name):
    """The distribution and all that it needs, without extras."""
    found, waiting = {}, [name]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = distribution(name)
        asked = [Requirement(text) for text in found[name].requires or ()]
        waiting += [r.name for r in asked if not r.marker or r.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def clean(wheel, tmp_path_factory):
    """A virtual environment with the wheel and its dependencies (linked, not downloaded)."""
    home = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    pip = [sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--no-index", wheel], check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    asked = [Requirement(text).name for text in requires(wheel)]
    for one in {d for name in asked for d in needed(name).values()}:
        for top in {file.parts[0] for file in one.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(one.locate_file(top))
    return home


def requires(wheel):
    """What the wheel itself says that it needs, without extras."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        lines = archive.read(name).decode().partition("\n\n")[0].splitlines()
    found = [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")]
    return [text for text in found if "extra ==" not in text]


def in_clean(clean, *command, **environment):
    done = subprocess.run(
        [clean / "bin" / command[0], *command[1:]],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=clean,
        env={"PATH": "/usr/bin:/bin", "HOME": str(clean), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_the_weights_and_no_library_of_others(wheel):
    name = re.fullmatch(r"clearhead-[\d.]+-cp3\d+-cp3\d+-manylinux_2_(\d+)_\w+\.whl", wheel.name)
    assert name is not None
    assert int(name[1]) <= 28  # as old as what numpy and torch ask for
    with zipfile.ZipFile(wheel) as archive:
        files = {entry.filename: entry.file_size for entry in archive.infolist()}
    native = [path for path in files if ".so" in path]
    assert [path.rpartition("/")[0] for path in native] == ["clearhead"]
    weights = {path: size for path, size in files.items() if path.endswith(".safetensors")}
    assert len(weights) >= 1
    assert sum(weights.values()) <= 40e6
    assert not {path.split("/")[0] for path in files} & {"tests", "corpus", "native", "build"}


def test_the_native_module_asks_for_the_c_library_alone(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [path for path in archive.namelist() if ".so" in path]
        file = archive.extract(name, tmp_path)
    asked = subprocess.run(
        ["patchelf", "--print-needed", file],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": OURS},
    ).stdout.split()
    of_glibc = r"(libc|libm|libdl|libpthread|ld-linux-[\w-]+)\.so\.\d|libgcc_s\.so\.1"
    assert [one for one in asked if not re.fullmatch(of_glibc, one)] == []


def test_it_translates_and_attends_with_and_without_openmp(clean):
    (clean / "none").mkdir()
    (clean / "none" / "libgomp.so.1").write_bytes(b"")  # the loader finds what is no library
    without = {"LD_LIBRARY_PATH": str(clean / "none")}
    told = in_clean(clean, "clearhead", SENTENCE)
    assert SENTENCE in told
    assert "it " in told
    assert in_clean(clean, "clearhead", SENTENCE, **without) == told
    called = in_clean(clean, "python", "-c", CALL)
    assert str(clean) in called
    alone = in_clean(clean, "python", "-c", CALL + COPIES, **without).split()
    assert alone[:2] == called.split()
    assert alone[2:] == ["0"]


@pytest.mark.parametrize("first", ["ours", "torch"])
def test_beside_torch_it_brings_no_second_openmp(clean, first):
    # torch from where it is installed, behind the wheel.
    path = f"import sys; sys.path.append({sysconfig.get_path('purelib')!r})\n"
    torch = "import torch; torch.softmax(torch.randn(2000, 1000), -1)\n"
    code = path + (CALL + torch if first == "ours" else torch + CALL) + COPIES
    said = in_clean(clean, "python", "-c", code).split()
    assert str(clean) in said[1]
    assert said[2:] == ["1"]
