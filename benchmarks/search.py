"""Which beam and which length penalty: BLEU and length on development sets, never on a test set.

The penalty chooses among what a search found and changes nothing before, so one search a beam
serves for all of them. "wu" rows are the formula of Wu et al. 2016 with its 5.

    python benchmarks/search.py [--lines 1000] [--beams 1,4,16] [--penalties 0,0.6,1,1.4] [--json]
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import sacrebleu

from clearhead.model.hypotheses import Hypothesis, Search
from clearhead.model.numbers import numbers_in
from clearhead.model.search import search
from clearhead.model.text_model import spaced
from clearhead.model.threads import attention_on_one_thread
from clearhead.model.translator import Translator, load_translator

SETS = Path(__file__).parents[1] / "corpus" / "eval"


def main() -> None:
    """Print a row for each language, beam and penalty."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, help="folder of a model; default: the bundled one")
    parser.add_argument("--lines", type=int, default=1000, help="of each development set")
    parser.add_argument("--beams", default="1,4", help="widths, commas between them")
    parser.add_argument("--penalties", default="0,0.6,0.8,1,1.2,1.4,1.6,2")
    parser.add_argument("--wu", action="store_true", help="also with the formula's 5")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    translator = load_translator(options.model)
    penalties = [float(penalty) for penalty in options.penalties.split(",")]
    found = []
    for to in translator.config.languages:
        sources, references = development_set(to, options.lines)
        for beam in map(int, options.beams.split(",")):
            hypotheses = searched(translator, sources, to, beam)
            for plus in (0, 5) if options.wu and beam > 1 else (0,):
                for penalty in penalties if beam > 1 else [0.0]:
                    texts = chosen(translator, sources, hypotheses, penalty, plus)
                    found.append({
                        "to": to, "beam": beam, "formula": "wu" if plus else "power",
                        "penalty": penalty, **measured(texts, references),
                    })  # fmt: skip
                    if not options.json:
                        print("  ".join(f"{key} {value}" for key, value in found[-1].items()))
    if options.json:
        json.dump(found, sys.stdout, indent=1)
        print()


def development_set(to: str, lines: int) -> tuple[list[str], list[str]]:
    """Sources and references, ``lines`` of them spread over the whole set."""
    path = SETS / f"tatoeba-own-dev.en-{to}.tsv.gz"
    held = gzip.decompress(path.read_bytes()).decode("utf-8")
    rows = [line.split("\t") for line in held.split("\n")[1:] if line]
    rows = [rows[i * len(rows) // min(lines, len(rows))] for i in range(min(lines, len(rows)))]
    return [spaced(row[0]) for row in rows], [row[1] for row in rows]


def searched(
    translator: Translator, sources: Sequence[str], to: str, beam: int
) -> list[list[Hypothesis]]:
    """All that a search with this beam found for each source."""
    encoded = [translator.row(translator.encode(source)) for source in sources]
    numbers = [numbers_in(source) for source in sources]
    with attention_on_one_thread():
        return search(
            translator.weights, translator.config, encoded, translator.pieces,
            translator.language(to), Search(beam=beam), numbers=numbers,
        )  # fmt: skip


def chosen(
    translator: Translator,
    sources: Sequence[str],
    found: Sequence[Sequence[Hypothesis]],
    penalty: float,
    plus: int,
) -> list[str]:
    """The best text of each source with one penalty."""

    def rank(hypothesis: Hypothesis) -> tuple[bool, int, float]:
        length = (plus + len(hypothesis.ids) + hypothesis.finished) / (plus + 1)
        score = hypothesis.log_probability / length**penalty
        return not hypothesis.finished, hypothesis.lost, -score

    best = [min(hypotheses, key=rank) for hypotheses in found]
    slots = [translator.encode(source).slots for source in sources]
    decode = translator.vocabulary.decode
    return [spaced(decode(h.ids, words)) for h, words in zip(best, slots, strict=True)]


def measured(texts: Sequence[str], references: Sequence[str]) -> dict[str, float | int]:
    """BLEU, the length of all texts in the references', and how many are empty."""
    bleu = sacrebleu.corpus_bleu(texts, [references])
    return {
        "bleu": round(bleu.score, 2),
        "length_ratio": round(bleu.sys_len / bleu.ref_len, 4),
        "empty": sum(not text.strip() for text in texts),
    }


if __name__ == "__main__":
    main()
