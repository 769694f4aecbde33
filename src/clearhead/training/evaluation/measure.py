"""Measures a translator on files, each by what its columns allow.

========================================  ==========================================
columns                                   what is measured
========================================  ==========================================
en, fr                                    the translation: BLEU and chrF; alignment
en, fr, fr_contrast (or fr_contrast1 …)   pronouns, by contrast
en, antecedent_en (and other_en)          what the encoder's heads look at from "it"
all of these                              and what those of the cross-attention do
========================================  ==========================================
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from clearhead.errors import ArgumentError
from clearhead.training.evaluation.alignment import align
from clearhead.training.evaluation.gold import read_gold
from clearhead.training.evaluation.links import Heads, best_unguided, cross_heads, heads
from clearhead.training.evaluation.pronouns import Contrast, contrast, contrast_columns
from clearhead.training.evaluation.scores import bleu_chrf, moses, scorers
from clearhead.training.evaluation.suite import Part
from clearhead.training.evaluation.tables import Done, nothing, read_table, sample_pairs, where
from clearhead.training.files import read_pairs

__all__ = ["SECTIONS", "Measuring", "Watch"]

SECTIONS = ("model", "translation", "pronouns", "heads", "chosen", "alignment")
"""What the figures hold."""

Watch = Callable[[str, int], Done]
"""Told what begins and how many rows it has; gives what is to be told of rows that are done."""

Rows = list[dict[str, str]]


class Measuring:
    """The figures of one translator, gathered file by file.

    Args:
        translator: as ``load_translator`` gives it.
        languages: to measure; each of the translator's.
        beam: width of the search.
        scoring: how BLEU splits words, "13a" or "moses".
        watch: is told what goes on.

    Attributes:
        figures: what was found, as JSON has it: ``model``, and lists of ``translation``,
            ``pronouns``, ``heads``, ``chosen`` (the best unguided heads), ``alignment``.
    """

    def __init__(
        self,
        translator: Any,
        languages: Sequence[str],
        *,
        beam: int = 4,
        scoring: str = "13a",
        watch: Watch = lambda what, total: nothing,
    ) -> None:
        self.translator, self.languages = translator, tuple(languages)
        self.beam, self.scoring, self.watch = beam, scoring, watch
        config = translator.config
        self.guided = tuple(config.guided)
        self._best: dict[tuple[str, str], tuple[int, int]] = {}
        self._sampled: dict[Part, int] = {}
        self.figures: dict[str, Any] = {
            "model": {
                "encoder_layers": config.encoder_layers,
                "decoder_layers": config.decoder_layers,
                "width": config.width,
                "heads": config.heads,
                "guided": [list(place) for place in self.guided],
            },
            "translation": [], "pronouns": [], "heads": [], "chosen": [], "alignment": [],
        }  # fmt: skip

    def run(
        self, parts: Sequence[Part], *, dev: Path | None = None, gold: Path | None = None
    ) -> dict[str, Any]:
        """Measures all files.

        Args:
            parts: the files.
            dev: which of them chooses the best unguided heads; it is read first. None is the first
                one with "dev" in its name whose heads can be measured.
            gold: marked word alignments of the only file.

        Returns:
            :attr:`figures`.

        Raises:
            ArgumentError: a file cannot be read, or its columns allow nothing.
            MissingExtra: sacreBLEU or sacremoses is not installed; told before the work is done.
        """
        read = [(part, self._read(part)) for part in parts]
        for part, rows in read:
            self._check(part, rows)
        chosen = dev or next(
            (p.path for p, rows in read if "dev" in p.path.name and "other_en" in rows[0]), None
        )
        read.sort(key=lambda each: each[0].path != chosen)  # stable: the others as they were
        for part, rows in read:
            links = self._links(part, rows, part.path == chosen)
            for to in self.languages:
                self._of_language(part, rows, to, links, gold)
        return self.figures

    def _read(self, part: Part) -> Rows:
        if part.reference is None:
            held = read_table(part.path)
        else:
            (to,) = self.languages
            held = [{"en": a, to: b} for a, b in read_pairs((str(part.path), str(part.reference)))]
        rows = where(held, part.where, str(part.path))
        kept = [dict(row) for row in sample_pairs(rows, part.limit)]
        if len(kept) < len(rows):
            self._sampled[part] = len(rows)
        return kept

    def _check(self, part: Part, rows: Rows) -> None:
        """Refuses what says nothing, and misses libraries, before anything is computed."""
        columns = set(rows[0]) if rows else set()
        known = [to for to in self.languages if {"en", to} <= columns]
        if not known and not {"en", "antecedent_en"} <= columns:
            raise ArgumentError(
                f"{part.path} has the columns {', '.join(rows[0]) if rows else 'of no rows'}; "
                f"wanted en and one of {', '.join(self.languages)}, or en and antecedent_en"
            )
        for to in known:
            if not contrast_columns(columns, to):
                scorers(self.scoring)
                if self.scoring == "moses":
                    moses(to)

    def _of_language(
        self, part: Part, rows: Rows, to: str, links: Heads | None, gold: Path | None
    ) -> None:
        columns = set(rows[0])
        if not {"en", to} <= columns:
            return
        if contrast_columns(columns, to):
            done = self._begin(part, f"pronouns to {to}", self._texts(rows, to))
            found = contrast(self.translator, rows, to, done)
            together = None if links is None else self._together(found, links)
            figures = found.to_dict() | {"with_links": together}
            self.figures["pronouns"].append(self._about(part, to) | figures)
        else:
            self._translation(part, rows, to)
        self._alignment(part, rows, to, gold)

    def _alignment(self, part: Part, rows: Rows, to: str, gold: Path | None) -> None:
        """Of what it is asked for, and of files that name a noun in both languages."""
        named = {"antecedent_en", f"antecedent_{to}"} <= set(rows[0])
        if part.align or gold is not None or named:
            texts = [(row["en"], row[to]) for row in rows]
            marked = read_gold(gold, texts) if gold is not None else []
            done = self._begin(part, f"alignment to {to}", len(rows))
            aligned = align(self.translator, rows, to, marked, done).to_dict()
            self.figures["alignment"].append(self._about(part, to) | aligned)

    def _translation(self, part: Part, rows: Rows, to: str) -> None:
        done = self._begin(part, f"to {to}", len(rows))
        start = time.perf_counter()
        texts = [row["en"] for row in rows]
        said = self.translator.translations(texts, to, beam=self.beam, done=done)
        took = time.perf_counter() - start
        texts = [translation.text for translation in said]
        scores = bleu_chrf(texts, [row[to] for row in rows], scoring=self.scoring, to=to)
        how = {"scoring": self.scoring, "beam": self.beam}
        speed = {"sentences_per_second": len(said) / max(took, 1e-9)}
        self.figures["translation"].append(self._about(part, to) | vars(scores) | how | speed)

    def _links(self, part: Part, rows: Rows, chooses: bool) -> Heads | None:
        """What heads look at: of the encoder, and of the cross-attention to each language."""
        if not rows or not {"en", "antecedent_en"} <= set(rows[0]):
            return None
        found = heads(self.translator, rows, self._begin(part, "heads", len(rows)))
        self._keep(part, "", found, chooses)
        for to in self.languages:
            if to in rows[0] and contrast_columns(rows[0], to):
                done = self._begin(part, f"cross-attention to {to}", len(rows))
                across = cross_heads(self.translator, rows, to, done)
                self._keep(part, to, across, chooses)
        return found

    def _keep(self, part: Part, to: str, found: Heads, chooses: bool) -> None:
        self.figures["heads"].append(self._about(part, to) | found.to_dict())
        others = found.most.size > len(set(found.guided))
        if chooses and found.sentences and found.more is not None and others:
            best = self._best[found.kind, to] = best_unguided(found)
            self.figures["chosen"].append(
                {"file": str(part.path), "kind": found.kind, "to": to or None, "head": list(best)}
            )

    def _together(self, found: Contrast, links: Heads) -> dict[str, Any] | None:
        """In how many sentences the pronoun is right, the link of one head is, both, neither."""
        head = self.guided[0] if self.guided else self._best.get(("encoder", ""))
        if head is None:
            return None
        pairs = [
            (answer, bool(hit))
            for answer, hit, read in zip(
                found.answers, links.hits[(slice(None), *head)], links.read, strict=True
            )
            if read
        ]
        return {
            "head": list(head),
            "guided": bool(self.guided),
            "both": pairs.count((True, True)),
            "pronoun_alone": pairs.count((True, False)),
            "link_alone": pairs.count((False, True)),
            "neither": pairs.count((False, False)),
        }

    def _texts(self, rows: Rows, to: str) -> int:
        """How many translations are read for a contrast."""
        names = [name for name in rows[0] if name == to or name.startswith(f"{to}_contrast")]
        return sum(bool(row[name]) for row in rows for name in names)

    def _about(self, part: Part, to: str) -> dict[str, Any]:
        """What a figure is of; ``sampled_from`` is how many rows there are, where not all count."""
        about = {"file": str(part.path), "to": to or None, "where": dict(part.where)}
        return about | {"sampled_from": self._sampled.get(part)}

    def _begin(self, part: Part, what: str, total: int) -> Done:
        return self.watch(f"{part.path.name} {what}", total)
