"""No object of an instruction set defines a weak symbol: the linker would keep one for all."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_kernel_object_defines_a_weak_symbol():
    build = ROOT / "build"  # words_*: their tests, compiled with the same switches
    objects = sorted(
        f for what in ("kernels", "words") for f in build.glob(f"**/{what}_*.dir/**/*.o")
    )
    assert objects, "no kernel objects under build/: run scripts/build"
    isas = {part for path in objects for part in path.parts if part.startswith("kernels_")}
    assert "kernels_baseline.dir" in isas
    listed = subprocess.run(
        ["nm", "-A", "-C", "--defined-only", *objects], capture_output=True, text=True, check=True
    )
    weak = [line for line in listed.stdout.splitlines() if line.split()[1] in "VvWwu"]
    assert not weak
