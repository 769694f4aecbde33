import subprocess

import pytest

from attention_table import limit
from attention_table.cells import CELLS, Cell

RATES = {"fma_float32": 4e11, "exp_degree_5": 2e10, "exp_degree_4": 4e10}


def test_the_limit_is_products_plus_exponentials():
    cell = Cell("short", 2, 3, 5, 8, "causal")
    pairs = 2 * 3 * 15
    assert limit.limit(cell, "float32", RATES) == pytest.approx(4 * 8 * pairs / 4e11 + pairs / 2e10)
    assert limit.limit(cell, "float16", RATES) == pytest.approx(4 * 8 * pairs / 4e11 + pairs / 4e10)


def test_the_limit_of_decoding_is_reading():
    cell = next(cell for cell in CELLS if cell.name == "decode-4096")
    size = 2 * 8 * 4096 * 128 * 4
    assert limit.limit(cell, "float32", {"read": {str(size): 4e10}}) == pytest.approx(size / 4e10)
    assert limit.limit(cell, "float32", RATES) is None


def test_the_peak_is_that_of_the_fastest_unit_for_the_kind():
    rates = {"fma_float32": 4.0, "dot_bfloat16": 2.0, "tiles_bfloat16": 60.0, "fma_float16": 8.0}
    assert [limit.peak(kind, rates) for kind in ("float32", "bfloat16", "float16")] == [4, 60, 8]
    assert limit.peak("bfloat16", {"fma_float32": 4.0, "dot_bfloat16": 2.0}) == 4
    assert limit.peak("float32", {}) is None


def test_the_best_of_several_measurements_counts():
    found = [{"a": 1.0, "read": {"8": 5.0}}, {"missing": "no compiler"}, {"a": 2.0, "read": {}}]
    assert limit.best_rates(found) == {"a": 2.0, "read": {"8": 5.0}}


def test_the_probe_measures_this_machine():
    with limit.Probe() as probe:
        found = probe.rates(1, [1 << 16])
    assert found["threads"] == 1
    assert all(found[name] > 1e6 for name in ("fma_float32", "exp_degree_4", "exp_degree_5"))
    assert found["read"]["65536"] > 1e6


def test_without_a_compiler_the_reason_is_told(monkeypatch):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(limit.shutil, "which", lambda name: None)
    found = limit.measured(1, CELLS, ["float32"])
    assert "install g++" in found["missing"]


def test_a_compiler_that_fails_is_named(monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "it is broken")
    monkeypatch.setattr(limit.subprocess, "run", lambda *_, **__: failed)
    monkeypatch.setenv("CXX", "odd-compiler")
    found = limit.measured(1, CELLS, ["float32"])
    assert found["missing"].startswith("odd-compiler cannot compile")
    assert "it is broken" in found["missing"]
