"""BLEU and chrF of translations, as sacreBLEU has them (Post 2018), with its signatures.

BLEU (Papineni et al. 2002) and chrF (Popović 2015) are of the unchanged text. The literature on
Multi30k scores otherwise: both sides are lower-cased and split by Moses' tokenizer, and BLEU counts
what stands between spaces. Such a score is some points higher, and compares only with its like.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clearhead.errors import ArgumentError, MissingExtra

__all__ = ["SCORINGS", "Scores", "bleu_chrf", "moses", "scorers"]

SCORINGS = ("13a", "moses")
"""Ways to split text into words for BLEU: sacreBLEU's default; or Moses', lower-cased before."""


@dataclass(frozen=True)
class Scores:
    """BLEU and chrF of a text, each with sacreBLEU's signature; both from 0 to 100."""

    lines: int
    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


def scorers(scoring: str = "13a") -> tuple[Any, Any]:
    """sacreBLEU's BLEU and chrF2, with its own defaults; BLEU of words as they stand for "moses".

    Raises:
        MissingExtra: sacreBLEU is not installed.
        ArgumentError: no such way of scoring.
    """
    if scoring not in SCORINGS:
        raise ArgumentError(f"scoring: found {scoring!r}; wanted {' or '.join(SCORINGS)}")
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise MissingExtra("sacrebleu", "train", "scoring translations") from None
    split = BLEU() if scoring == "13a" else BLEU(tokenize="none", force=True)
    return split, CHRF()


def moses(to: str) -> tuple[Callable[[str], str], str]:
    """How Moses' tokenizer splits lower-cased text, and the version of the library that does.

    Args:
        to: language of the text, as "fr".

    Raises:
        MissingExtra: sacremoses is not installed.

    Example:
        >>> split, version = moses("fr")
        >>> split("L'homme n'est pas là.")
        "l' homme n' est pas là ."
    """
    try:
        import sacremoses
    except ImportError:
        raise MissingExtra("sacremoses", "train", "scoring the way of Multi30k") from None
    tokenizer = sacremoses.MosesTokenizer(lang=to)

    def split(text: str) -> str:
        found: str = tokenizer.tokenize(text.lower(), return_str=True, escape=False)
        return found

    return split, str(sacremoses.__version__)


def bleu_chrf(
    translations: Sequence[str],
    references: Sequence[str],
    *,
    scoring: str = "13a",
    to: str = "fr",
) -> Scores:
    """Scores translations against one reference each.

    Args:
        translations, references: as many.
        scoring: "13a", on the unchanged text; "moses" for BLEU the way of Multi30k (chrF stays as
            it is).
        to: their language; only Moses' tokenizer asks.

    Raises:
        MissingExtra: sacreBLEU, or for "moses" sacremoses, is not installed.

    Example:
        >>> scores = bleu_chrf(["Le chat dort."], ["Le chat dort."])
        >>> round(scores.bleu), round(scores.chrf)
        (100, 100)
    """
    bleu, chrf = scorers(scoring)
    said, wanted = list(translations), list(references)
    of_chrf = chrf.corpus_score(said, [wanted]).score
    note = ""
    if scoring == "moses":
        split, version = moses(to)
        said, wanted = [split(text) for text in said], [split(text) for text in wanted]
        note = f"|lower-cased, split by sacremoses {version}"
    of_bleu = bleu.corpus_score(said, [wanted]).score
    signatures = f"{bleu.get_signature()}{note}", str(chrf.get_signature())
    return Scores(len(wanted), of_bleu, of_chrf, *signatures)
