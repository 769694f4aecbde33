"""The fused pass beside every attention that runs on this machine's CPU.

Each cell is checked against float64 and then timed, all peers in turn in one process, with the same
number of threads. What is printed and how it is measured: docs/speed.md.

    python benchmarks/attention.py                        float32, about four minutes
    python benchmarks/attention.py --quick                one minute: fewer rounds and peers
    python benchmarks/attention.py --kind bfloat16 --cells causal decode
    python benchmarks/attention.py --kind float32 bfloat16 --out speed.jsonl --json
    python benchmarks/attention.py --out speed.jsonl --write-docs --picture speed.png

With --out, what the file holds is not measured again; Ctrl-C loses only the cell in progress.
FlexAttention compiles for each cell the first time, which takes minutes: --compile does so
beforehand. Peers that are not installed are named: pip install 'clearhead[bench]' has them all.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    about, _, examples = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=about, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--kind", nargs="+", default=["float32"], choices=["float32", "bfloat16", "float16"])
    add("--cells", nargs="+", metavar="PART", help="cells whose names contain one of the parts")
    add("--peers", nargs="*", metavar="NAME", help="these beside torch; without a name none")
    add("--threads", type=int, default=len(os.sched_getaffinity(0)), help="all there are")
    add("--quick", action="store_true", help="one minute")
    add("--seconds", type=float, help="of timing for each cell, at least (3)")
    add("--rounds", type=int, help="at the least, for each cell (5)")
    add("--out", type=Path, metavar="FILE.jsonl", help="keep each cell there, and go on from it")
    add("--json", action="store_true", help="print one object at the end, and the table on stderr")
    add("--picture", type=Path, metavar="FILE.svg|png", help="draw what was measured")
    add("--write-docs", action="store_true", help="write what --out holds into the documents")
    add("--compile", action="store_true", help="only let the peers compile")
    add("--list", action="store_true", help="only name cells and peers")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Measure what is not there yet; then print, draw and write what was asked for."""
    options = arguments(given)
    # Thread counts that NumPy's and JAX's libraries read once, when they are loaded; and NumPy's
    # threads sleep soon after their work, so that they take nothing from whoever comes next.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(options.threads))
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    os.environ.setdefault("NPROC", str(options.threads))
    from attention_table.running import Table

    table = Table(options, sys.stderr if options.json else sys.stdout)
    if options.list:
        return table.names()
    if options.compile:
        return table.compile()
    status = 0 if options.write_docs else table.run()
    if options.json:
        print(json.dumps(table.as_json(), indent=1))
    if options.picture:
        table.draw(options.picture)
    if options.write_docs:
        table.write_docs()
    return status


if __name__ == "__main__":
    sys.exit(main())
