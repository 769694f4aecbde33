"""``clearhead machine``: what the kernels run on."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from typing import Any

import click

import clearhead
from clearhead.cli.manners import write
from clearhead.cli.options import as_json

__all__ = ["command"]


@click.command("machine", epilog="Example: clearhead machine --json")
@as_json
def command(as_json: bool) -> None:
    """Say what this machine and this build can do.

    The instruction set of the kernels that run (CLEARHEAD_ISA forces one), those that this build
    holds, and how many threads a call uses (OMP_NUM_THREADS bounds them).
    """
    found: dict[str, Any] = {
        "clearhead": clearhead.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        **asdict(clearhead.machine()),
    }
    if as_json:
        write(json.dumps(found) + "\n")
        return
    told = {
        "isa": "kernels in use",
        "isas": "kernels built",
        "threads": "threads",
        "cores": "cores allowed",
    }
    for name, value in found.items():
        shown = ", ".join(value) if isinstance(value, tuple) else value
        write(f"{told.get(name, name):<16}{shown}\n")
