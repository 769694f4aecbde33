"""Every instruction set this machine has passes the tests of the fused pass.

``test_cross.py`` holds the same kernels to float64 without Python, and those of AArch64.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import clearhead as ch

ROOT = Path(__file__).parents[2]
HELD = (
    *("core/test_fused.py", "core/test_threads.py", "core/test_poison.py"),
    *("core/test_bfloat16.py", "core/test_extremes.py", "core/test_unlisted.py"),
    *("core/test_strongest.py", "core/test_tiles.py", "core/test_decode.py", "core/test_cache.py"),
    *("core/test_faults_*.py", "conformance/test_onnx.py", "native/test_exponential.py"),
)
"""The tests that every instruction set passes, under ``tests/``."""


def python(*arguments, **environment):
    """A fresh process, as the instruction set is chosen once; its output."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        timeout=1800,
    )
    return done.returncode, done.stdout + done.stderr


def held():
    """The files of ``HELD``; each name must find one."""
    found = {name: sorted((ROOT / "tests").glob(name)) for name in HELD}
    assert not [name for name, files in found.items() if not files]
    return [str(file) for files in found.values() for file in files]


def runs_here(isa):
    return python("-c", "import clearhead as ch; ch.machine()", CLEARHEAD_ISA=isa)[0] == 0


def test_the_best_instruction_set_is_chosen_and_baseline_always_runs():
    found = [isa for isa in ch.machine().isas if runs_here(isa)]
    assert found[0] == "baseline"
    code, name = python("-c", "import clearhead as ch; print(ch.machine().isa)", CLEARHEAD_ISA="")
    if found[-1] == "avx512bf16" and "AuthenticAMD" not in Path("/proc/cpuinfo").read_text():
        found.pop()  # Intel's run it slower than avx512
    assert (code, name.strip()) == (0, found[-1])


@pytest.mark.parametrize("isa", [isa for isa in ch.machine().isas if isa != ch.machine().isa])
def test_every_path_passes_the_tests_of_the_fused_pass(isa):
    if not runs_here(isa):
        code, said = python("-c", "import clearhead as ch; ch.machine()", CLEARHEAD_ISA=isa)
        assert code != 0
        assert "which this processor cannot run" in said
        return
    options = ("-q", "-p", "no:cacheprovider", "-k", "not plain")  # the plain form runs no kernel
    code, said = python("-m", "pytest", *options, *held(), CLEARHEAD_ISA=isa)
    assert code == 0, said[-4000:]


def test_every_test_that_holds_the_kernels_to_float64_is_named():
    """Those that say they are run again for each instruction set are, and no name finds nothing."""
    says = "``tests/native/test_isas.py`` runs this file again"
    files = [str(f) for f in (ROOT / "tests").glob("**/test_*.py") if says in f.read_text()]
    assert len(files) > 2
    assert set(files) - {__file__} <= set(held())


def test_an_instruction_set_that_is_not_there_is_refused_by_name():
    call = "import clearhead as ch, numpy as np; x = np.zeros((1, 2, 3)); ch.attention(x, x, x)"
    for code in ("import clearhead as ch; ch.machine()", call):
        status, said = python("-c", code, CLEARHEAD_ISA="sse9")
        assert status == 1
        assert "ArgumentError: CLEARHEAD_ISA: found 'sse9'; this build holds baseline" in said
