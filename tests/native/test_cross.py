"""The kernels without Python (``cases.cpp``): on this processor, and on AArch64 in an emulator."""

import re
import shutil
import subprocess
from pathlib import Path

import clearhead as ch

ROOT = Path(__file__).parents[2]
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"


def cross(*arguments):
    """Status and all output of ``scripts/cross``."""
    done = subprocess.run(
        ["scripts/cross", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
    )
    return done.returncode, done.stdout


def passed(said):
    """The instruction sets that were run, of what ``cases`` printed; all words and calls right."""
    line = re.compile(r"^(\w+): (\d+) wrong words, (\d+) wrong of (\d+) calls$", re.MULTILINE)
    found = line.findall(said)
    assert all((words, calls) == ("0", "0") and int(of) > 0 for _, words, calls, of in found)
    return [isa for isa, *_ in found]


def test_all_instruction_sets_of_this_build_answer_as_float64_does():
    status, said = cross("host")
    assert status == 0, said[-4000:]
    refused = re.findall(r"CLEARHEAD_ISA: found (\w+), which this processor cannot run", said)
    assert sorted(passed(said) + refused) == sorted(ch.machine().isas)
    assert {"baseline", ch.machine().isa} <= set(passed(said))


def test_neon_answers_as_float64_does():
    status, said = cross("aarch64")
    if not (shutil.which(COMPILER) and shutil.which(EMULATOR)):  # .ci/run has them
        assert status == 1
        assert "apt-get install g++-aarch64-linux-gnu qemu-user" in said
        return
    assert status == 0, said[-4000:]
    assert sorted(passed(said)) == ["baseline", "neon"]


def test_another_processor_is_refused_by_name():
    status, said = cross("mips")
    assert status == 1
    assert "found mips; wanted aarch64 or host" in said
