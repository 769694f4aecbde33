"""The kernels without Python (``cases.cpp``): on this processor, and on AArch64 in an emulator."""

import re
import shutil
import subprocess
from pathlib import Path

import clearhead as ch

ROOT = Path(__file__).parents[2]
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
KINDS = ("float32", "float64", "float16", "bfloat16")
HELD = {
    *("shape small", "shape thin", "shape cached", "shape far", "shape long", "shape many"),
    *("grouped", "no mask", "causal", "window", "lengths", "lengths of queries", "poison"),
    *("segments, packed", "segments, woven", "softcap", "sinks", "alibi", "array, broadcast"),
    *("boolean, blocks", "boolean, band", "boolean, scattered", "boolean, broadcast"),
    *("bias", "bias, broadcast", "bias, masking", "bias, of another kind"),
    *("nothing observed", "top", "top, long", "top, beyond the keys", "entropy", "lse"),
    *("received", "map", "rows", "weights"),
}
"""What ``cases`` draws (``draw.h``) and each path must have met thirty times for each kind."""


def cross(*arguments):
    """Status and all output of ``scripts/cross``."""
    done = subprocess.run(
        ["scripts/cross", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2400,
    )
    return done.returncode, done.stdout


def passed(said):
    """(instruction set, kind) → what its calls held → how many of them; no word or call wrong."""
    assert not re.findall(r"^.*[1-9]\d* wrong words$", said, re.MULTILINE)
    line = re.compile(r"^(\w+): (\d+) calls of (\w+) from seed \d+: (.*)$", re.MULTILINE)
    found = {}
    for isa, calls, kind, listed in line.findall(said):
        parts = (part.rsplit(" ", 1) for part in listed.split("; "))
        found[isa, kind] = {what: int(times) for what, times in parts} | {"calls": int(calls)}
    assert found
    assert not any(counts["wrong"] for counts in found.values())
    return found


def ran(said):
    """The instruction sets of which every kind was run and passed."""
    found = sorted(passed(said))
    isas = sorted({isa for isa, _ in found})
    assert found == [(isa, kind) for isa in isas for kind in sorted(KINDS)]
    return isas


def show(capsys, said):
    """The seed and the counts, for whoever reads the run: a seed that fails can be had again."""
    with capsys.disabled():
        print("", *re.findall(r"^\w+: \d+ calls .*$", said, re.MULTILINE), sep="\n")


def test_a_thousand_calls_of_each_kind_on_every_instruction_set_are_those_of_float64(capsys):
    status, said = cross("host", "1000")
    assert status == 0, said[-4000:]
    show(capsys, said)
    refused = re.findall(r"CLEARHEAD_ISA: found (\w+), which this processor cannot run", said)
    assert sorted(ran(said) + refused) == sorted(ch.machine().isas)
    assert {"baseline", ch.machine().isa} <= set(ran(said))
    assert ("amx" in ran(said)) == ("avx512bf16" in ran(said))  # by hand where there are no tiles
    for (isa, kind), counts in passed(said).items():
        assert counts["calls"] == 1000, (isa, kind)
        few = {what: counts.get(what, 0) for what in HELD if counts.get(what, 0) < 30}
        if kind == "float64":
            assert few.pop("bias, of another kind") == 0  # that would be promoted silently
        assert not few, (isa, kind)


def test_other_calls_at_every_run_are_those_of_float64(capsys):
    status, said = cross("host", "150", "fresh")
    assert status == 0, said[-4000:]
    show(capsys, said)
    assert ch.machine().isa in ran(said)


def test_neon_answers_as_float64_does():
    status, said = cross("aarch64", "100")
    if not (shutil.which(COMPILER) and shutil.which(EMULATOR)):  # .ci/run has them
        assert status == 1
        assert "apt-get install g++-aarch64-linux-gnu qemu-user" in said
        return
    assert status == 0, said[-4000:]
    assert ran(said) == ["baseline", "neon"]


def test_another_processor_is_refused_by_name():
    status, said = cross("mips")
    assert status == 1
    assert "found mips; wanted aarch64 or host" in said
