"""AVX-512 for NumPy's products: told where it helps, and nowhere else."""

import os
import subprocess
import sys

import pytest

import clearhead as ch
from clearhead.cli import products

ZEN = "avx2 avx512f avx512dq avx512cd avx512bw avx512vl"


@pytest.fixture
def before_numpy(monkeypatch):
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "put back afterwards")
    monkeypatch.delenv("OPENBLAS_CORETYPE")


def described(tmp_path, vendor, flags):
    path = tmp_path / "cpuinfo"
    path.write_text(f"processor\t: 0\nvendor_id\t: {vendor}\nflags\t\t: {flags}\n\n")
    return path


def test_amd_with_avx512_is_told(before_numpy, tmp_path):
    products.wide_products(described(tmp_path, "AuthenticAMD", ZEN))
    assert os.environ["OPENBLAS_CORETYPE"] == "SkylakeX"


@pytest.mark.parametrize(("vendor", "flags"), [
    ("AuthenticAMD", ZEN.replace("avx512vl", "")), ("GenuineIntel", ZEN),
])  # fmt: skip
def test_others_choose_by_themselves(before_numpy, tmp_path, vendor, flags):
    products.wide_products(described(tmp_path, vendor, flags))
    assert "OPENBLAS_CORETYPE" not in os.environ


def test_nothing_happens_where_no_processor_is_described(before_numpy, tmp_path):
    products.wide_products(tmp_path / "nothing")
    assert "OPENBLAS_CORETYPE" not in os.environ


def test_who_has_chosen_is_obeyed(before_numpy, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    products.wide_products(described(tmp_path, "AuthenticAMD", ZEN))
    assert os.environ["OPENBLAS_CORETYPE"] == "Haswell"


def test_where_numpy_is_loaded_nothing_is_set(before_numpy, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", object())
    products.wide_products(described(tmp_path, "AuthenticAMD", ZEN))
    assert "OPENBLAS_CORETYPE" not in os.environ


def test_no_command_has_loaded_numpy_when_it_tells():
    code = (
        "import sys, clearhead.cli.manners, clearhead.cli.commands, clearhead.cli.translate, "
        "clearhead.cli.look, clearhead.cli.steps; print('numpy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


@pytest.mark.parametrize(("products_on", "threads", "wanted"), [
    ("1", 3, 3), ("1", 20, 8), ("2", 3, 1), (None, 3, 1),
])  # fmt: skip
def test_a_batch_a_thread_where_products_have_one(monkeypatch, products_on, threads, wanted):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "put back afterwards")
    if products_on is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    else:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", products_on)
    ch.set_threads(threads)
    try:
        assert products.workers() == wanted
    finally:
        ch.set_threads(None)
