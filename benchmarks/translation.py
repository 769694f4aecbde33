"""How many sentences a second, beside Hugging Face's generate and CTranslate2 of the same sizes.

Ours is timed from text to text, the peers from pieces to pieces, in turn in one process, with the
same number of threads; the ratio is that of the medians. What is equal and what is not, and what
the figures were: docs/speed-translation.md.

    python benchmarks/translation.py              greedy and beam 4, about eight minutes
    python benchmarks/translation.py --quick      one minute: 64 sentences, greedy, three rounds
    python benchmarks/translation.py --json       one object, for scripts

CTranslate2 comes with pip install 'clearhead[bench]'; a peer that is not there is named.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from clearhead.cli.products import wide_products

PEERS = ("generate", "ctranslate2")


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    about, _, examples = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=about, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--threads", type=int, default=min(2, len(os.sched_getaffinity(0))), help="of each one")
    add("--sentences", type=int, default=512, help="of tatoeba-own-test, at even steps")
    add("--rounds", type=int, default=7, help="of timing; one more does not count")
    add("--beams", type=int, nargs="+", default=[1, 4], help="1 is greedy")
    add("--peers", nargs="+", default=list(PEERS), choices=PEERS)
    add("--workers", type=int, default=1, help="batches at the same time, which share the threads")
    add("--as-imported", action="store_true", help="NumPy's BLAS as it is without our commands")
    add("--model", type=Path, metavar="FOLDER", help="instead of the bundled one")
    add("--quick", action="store_true", help="64 sentences, greedy, three rounds")
    add("--json", action="store_true", help="print one object; what goes on stands on stderr")
    options = parser.parse_args(given)
    if options.quick:
        options.sentences, options.rounds, options.beams = 64, 3, [1]
    return options


def main(given: list[str] | None = None) -> int:
    """Check, measure, print."""
    options = arguments(given)
    # Read once, when NumPy's and the peers' libraries are loaded; NumPy's threads sleep soon after
    # their work, so that they take nothing from whoever comes next.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(options.threads // options.workers))
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    if not options.as_imported:
        wide_products()

    import clearhead as ch
    from translation_table.ours import first_sentences
    from translation_table.ratios import table
    from translation_table.running import measure

    ch.set_threads(options.threads)
    options.lines = first_sentences(options.sentences)
    found = measure(options, lambda text: print(text, file=sys.stderr, flush=True))
    found["threads"], found["sentences"] = options.threads, len(options.lines)
    found["workers"] = options.workers
    found["isa"], found["numpy_core"] = ch.machine().isa, os.environ.get("OPENBLAS_CORETYPE")
    if options.json:
        json.dump(found, sys.stdout, indent=1)
        print()
        return 0
    print(table(found["rows"]))
    for name, why in found["absent"].items():
        print(f"{name} is not here: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
