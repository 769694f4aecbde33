"""The measures, on cases where the answer is known."""

import pytest

from clearhead.errors import ArgumentError
from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import random_weights
from clearhead.model.translator import Translator
from clearhead.model.vocabulary import Vocabulary
from clearhead.training.evaluate import bleu_chrf, contrast, heads, read_table, sample


class Scorer:
    """Prefers what its table says."""

    def __init__(self, table):
        self.table = table

    def score(self, sources, targets, to):
        return [self.table[target] for target in targets]


def test_a_pair_is_right_when_both_sentences_are():
    rows = [
        {"en": "x", "fr": good, "fr_contrast": bad, "pair": pair}
        for good, bad, pair in [("a", "b", "1"), ("b", "a", "1"), ("c", "d", "2"), ("c", "b", "2")]
    ]
    found = contrast(Scorer({"a": -1, "b": -2, "c": 0, "d": -3}), rows, "fr")
    assert (found.sentences, found.right, found.pairs, found.pairs_right) == (4, 3, 2, 1)


def test_equal_scores_are_not_right():
    rows = [{"en": "x", "fr": "a", "fr_contrast": "a"}]
    found = contrast(Scorer({"a": -1}), rows, "fr")
    assert (found.right, found.pairs) == (0, 0)


def test_bleu_and_chrf_are_sacrebleu_s():
    good = bleu_chrf(["Le chat dort là."] * 2, ["Le chat dort là."] * 2)
    assert (round(good.bleu), round(good.chrf), good.lines) == (100, 100, 2)
    assert bleu_chrf(["non"], ["Le chat dort là."]).bleu < 1
    assert "case:mixed" in good.bleu_signature


@pytest.fixture(scope="module")
def translator():
    texts = ["The cat saw the dog, and it was big because it can."] * 200
    words = Vocabulary.learn(texts, size=320, languages=("fr", "de"))
    config = TranslationConfig(
        vocabulary=words.size, width=16, heads=2, encoder_layers=1, decoder_layers=1
    )
    weights = random_weights(config)
    weights["encoder"][0]["attention"]["w_q"][:] = 0  # every head looks everywhere alike
    return Translator(config, words, weights)


def test_heads_that_look_everywhere_alike_give_each_piece_its_share(translator):
    text = "The cat saw the dog, and it was big because it can."
    row = {"en": text, "antecedent_en": "cat", "other_en": "dog"}
    found = heads(translator, [row])
    pieces = len(translator.vocabulary.encode(text).ids) + 1
    assert found.sentences == 1
    assert found.weight == pytest.approx(1 / pieces, abs=1e-6)


def test_rows_without_their_words_are_left_out(translator):
    row = {"en": "The cat saw it.", "antecedent_en": "cat", "other_en": "lion"}
    found = heads(translator, [row, row | {"other_en": ""}, row | {"en": "The cat saw a lion."}])
    assert (found.sentences, found.share.sum()) == (0, 0)


def test_a_sample_is_spread_evenly():
    assert sample(list("abc"), 5) == ["a", "b", "c"]
    assert sample(range(100), 4) == [0, 25, 50, 75]


def test_a_table_has_a_value_for_every_column(tmp_path):
    (tmp_path / "t.tsv").write_text("en\tfr\na\u2028b\tc\n\td\n")
    rows = read_table(tmp_path / "t.tsv")
    assert rows == [{"en": "a\u2028b", "fr": "c"}, {"en": "", "fr": "d"}]
    (tmp_path / "t.tsv").write_text("en\tfr\na\tb\tc\n")
    with pytest.raises(ArgumentError, match="line 2: found 3 columns; wanted 2"):
        read_table(tmp_path / "t.tsv")
