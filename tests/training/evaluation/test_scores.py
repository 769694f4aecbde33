"""BLEU and chrF are sacreBLEU's, in both ways of splitting text."""

import sys

import pytest
import sacrebleu

from clearhead.errors import ArgumentError, MissingExtra
from clearhead.training.evaluation.scores import bleu_chrf, moses, scorers

SAID = ["L'homme est là.", "Un chien (noir) court."]
WANTED = ["L'Homme est là.", "Un chien noir court vite."]


def test_bleu_and_chrf_are_sacrebleu_s():
    good = bleu_chrf(["Le chat dort là."] * 2, ["Le chat dort là."] * 2)
    assert (round(good.bleu), round(good.chrf), good.lines) == (100, 100, 2)
    assert bleu_chrf(["non"], ["Le chat dort là."]).bleu < 1
    found = bleu_chrf(SAID, WANTED)
    assert found.bleu == sacrebleu.corpus_bleu(SAID, [WANTED]).score
    assert found.chrf == sacrebleu.corpus_chrf(SAID, [WANTED]).score
    assert "case:mixed" in found.bleu_signature
    assert "tok:13a" in found.bleu_signature


def test_the_way_of_multi30k_is_bleu_of_lower_cased_words_split_by_moses():
    found = bleu_chrf(SAID, WANTED, scoring="moses", to="fr")
    said = ["l' homme est là .", "un chien ( noir ) court ."]
    wanted = ["l' homme est là .", "un chien noir court vite ."]
    assert found.bleu == sacrebleu.corpus_bleu(said, [wanted], tokenize="none", force=True).score
    assert found.chrf == bleu_chrf(SAID, WANTED).chrf
    assert "tok:none" in found.bleu_signature
    assert "|lower-cased, split by sacremoses " in found.bleu_signature


def test_moses_splits_by_language():
    assert moses("de")[0]('Der "Hund" läuft 3,5 km & mehr.') == (
        'der " hund " läuft 3,5 km & mehr .'
    )


def test_a_way_that_is_not_known_is_refused():
    with pytest.raises(ArgumentError, match="scoring: found 'char'; wanted 13a or moses"):
        scorers("char")


@pytest.mark.parametrize(("library", "scoring"), [("sacrebleu", "13a"), ("sacremoses", "moses")])
def test_a_missing_library_is_named_with_the_command_that_installs_it(
    monkeypatch, library, scoring
):
    for name in [*sys.modules]:
        if name.partition(".")[0] == library:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=rf"{library}, .* pip install 'clearhead\[train\]'"):
        bleu_chrf(SAID, WANTED, scoring=scoring)
