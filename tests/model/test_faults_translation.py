"""Faults of other software, as kinds: translating lines, in batches, with a beam, and scoring."""

import numpy as np
import pytest

from clearhead.cli.options import input_lines
from clearhead.model.hypotheses import Search
from clearhead.model.scoring import log_probabilities
from clearhead.model.search import search
from clearhead.model.splitting import LONGEST
from clearhead.model.translated import LineWarning
from clearhead.model.translator import Translator
from clearhead.model.tree import map_tree

TEXT = "the animal cat dogs street house was tired small live in a it 3 because"
LONG = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def lines():
    """Fifty, from one word to thirty."""
    rng = np.random.default_rng(3)
    return [" ".join(rng.choice(TEXT.split(), n)) + "." for n in rng.integers(1, 30, 50)]


@pytest.fixture(scope="module")
def exact(config, vocabulary, weights):
    """The same model in float64."""
    return Translator(config, vocabulary, map_tree(lambda leaf: leaf.astype(np.float64), weights))


def equal(found, wanted):
    assert [t.text for t in found] == [t.text for t in wanted]
    for one, other in zip(found, wanted, strict=True):
        for a, b in zip(one.candidates, other.candidates, strict=True):
            assert a.log_probability == pytest.approx(b.log_probability, abs=1e-4)


def test_an_empty_line_stays_a_line(translator):
    """Neither does it end the run, nor do lines get out of step."""
    found = translator.translate(["a cat", "", "b"], max_length=12)
    assert found == [
        translator.translate("a cat", max_length=12), "", translator.translate("b", max_length=12),
    ]  # fmt: skip


@pytest.mark.parametrize("at", [0, 3, 6])
def test_an_empty_line_leaves_its_batch_mates_as_they_are(translator, lines, at):
    """Not as a row of padding that may look at nothing, and spreads NaN."""
    mates = lines[:6]
    with_empty = [*mates[:at], "", *mates[at:]]
    found = translator.translations(with_empty, max_length=20, batch=7)
    assert found.pop(at).text == ""
    equal(found, [translator.translations([line], max_length=20)[0] for line in mates])


@pytest.mark.parametrize(
    ("batch", "order"),
    [(1, "given"), (7, "given"), (50, "given"), (7, "sorted"), (7, "shuffled"), (50, "shuffled")],
)
def test_what_shares_a_batch_changes_no_translation(translator, lines, batch, order):
    wanted = translator.translations(lines, max_length=12, beam=3)
    at = {
        "given": np.arange(50),
        "sorted": np.argsort([len(line) for line in lines]),
        "shuffled": np.random.default_rng(1).permutation(50),
    }[order]
    found = translator.translations([lines[i] for i in at], max_length=12, beam=3, batch=batch)
    equal([found[i] for i in np.argsort(at)], wanted)


@pytest.mark.parametrize("extra", [0, 5, 64])
def test_padding_changes_no_translation(translator, lines, extra):
    """One longer line pads all the others."""
    few = lines[:10]
    longest = max(len(translator.encode(line).ids) for line in few)
    mate = " ".join(["cat"] * (longest + extra))
    found = translator.translations([*few, mate], max_length=20, batch=50)
    equal(found[:10], translator.translations(few, max_length=20, batch=1))


@pytest.mark.parametrize("beam", [1, 4])
def test_a_very_short_sentence_beside_a_long_one_is_not_empty(translator, beam):
    found = translator.translate(["it", f"{LONG} {LONG}", "1."], beam=beam, max_length=30)
    assert found[0] == translator.translate("it", beam=beam, max_length=30) != ""
    assert found[2] == translator.translate("1.", beam=beam, max_length=30) != ""


def test_nothing_finished_at_the_greatest_length_gives_the_best_unfinished_one(translator, lines):
    """Marked, and neither an error nor an empty text."""
    unfinished = 0
    for line in lines[:20]:
        best = translator.translate(line, n_best=4, beam=4, max_length=1)[0]
        assert len(best.ids) == 1
        unfinished += not best.finished
    assert unfinished


@pytest.mark.parametrize("length_penalty", [0, 0.6, 1.4])
def test_a_reported_score_is_that_of_reading_the_text_again(
    translator, exact, lines, length_penalty
):
    """The end counts in both, and an unfinished one is normalised by its own length."""
    options = {"n_best": 6, "beam": 6, "length_penalty": length_penalty}
    for model, near in ((translator, 1e-4), (exact, 1e-9)):
        ended = 0
        for translation in model.translations(lines[:4], **options):
            for candidate in translation.candidates:
                length = len(candidate.ids) + candidate.finished
                score = candidate.log_probability / length**length_penalty
                assert candidate.score == pytest.approx(score)
                if candidate.finished:
                    again = model.score(translation.source, candidate.text)
                    assert candidate.log_probability == pytest.approx(again, abs=near)
                    ended += 1
        assert ended


@pytest.mark.parametrize("extra", [{}, {"no_repeat": 2}, {"min_length": 9}])
def test_caches_follow_the_hypotheses_that_change_places(exact, lines, extra):
    """Every hypothesis from scratch, in a batch whose samples end at different times."""
    vocabulary, language = exact.vocabulary, exact.language("fr")
    sources = [exact.row(exact.encode(line)) for line in lines[:12]]
    how = Search(beam=4, n_best=4, max_length=20, batch=12, **extra)
    found = search(exact.weights, exact.config, sources, exact.pieces, language, how)
    assert len({len(hypotheses[0].ids) for hypotheses in found}) > 1
    for source, hypotheses in zip(sources, found, strict=True):
        for hypothesis in hypotheses:
            tail = [vocabulary.end] if hypothesis.finished else []
            target = [language, *hypothesis.ids, *tail]
            again = log_probabilities(
                exact.weights, exact.config, [source], [target], vocabulary.pad
            )
            assert hypothesis.log_probability == pytest.approx(sum(again[0]), abs=1e-9)


@pytest.mark.parametrize("line", ["'" * 5_000, "' " * 5_000, "😀" * 3_000, "." * 700])
def test_a_line_without_words_or_end_stops_no_other(translator, line):
    found = translator.translations(["a cat", line, "it"], max_length=12, beam=1)
    assert [bool(each.text) for each in found] == [True, True, True]
    assert found[1].notes
    assert found[0].text == translator.translate("a cat", max_length=12, beam=1)
    assert found[2].text == translator.translate("it", max_length=12, beam=1)


def test_no_source_is_cut_off_in_silence(translator):
    """Half as long again as the limit: all of it is translated, and a warning says how."""
    sentence = f"{LONG} "
    line = sentence * (1 + int(1.5 * LONGEST / len(translator.encode(sentence).ids)))
    assert len(translator.encode(line).ids) > 1.5 * LONGEST
    with pytest.warns(
        LineWarning, match=r"[\d,]+ pieces are more than 512: translated in \d+ parts"
    ):
        whole = translator.translate(line, max_length=6, beam=1)
    short = translator.translate(LONG, max_length=6, beam=1)
    assert len(whole) > 2 * len(short)


@pytest.mark.parametrize("text", ["🙂 ﷽ ︰ ŉ \u200d", "🙂", "﷽", "︰", "ŉ", "a\u200db", "\ufb01"])
def test_unknown_characters_come_back_as_they_were(translator, text):
    """No character is dropped, replaced by a mark or normalised, however often it goes round."""
    vocabulary = translator.vocabulary
    for slots in (None, []):
        encoded = vocabulary.encode(text, slots=slots)
        once = vocabulary.decode(encoded.ids, encoded.slots)
        again = vocabulary.encode(once, slots=slots)
        assert vocabulary.decode(again.ids, again.slots) == once == text


def test_only_a_line_feed_ends_a_line():
    text = "alpha\u2028beta\x0bgamma\x85delta\n"
    assert len(text.splitlines()) == 4
    assert list(input_lines([text.encode()])) == [(text[:-1], "\n")]


def test_rarer_separators_within_a_line_are_white_space(translator):
    found = translator.translations(["a\u2028cat\x0bit\x85was"], max_length=12)
    assert len(found) == 1
    assert found[0].text == translator.translate("a cat it was", max_length=12)


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_scoring_is_the_same_in_any_batch(translator, lines, batch):
    targets = [lines[(7 * i) % 50] for i in range(50)]
    alone = [translator.score(*pair) for pair in zip(lines, targets, strict=True)]
    assert translator.score(lines, targets, batch=batch) == pytest.approx(alone, abs=1e-4)


@pytest.mark.parametrize("beam", [1, 4, 16, 64])
def test_a_wider_search_without_normalisation_finds_no_empty_text(translator, lines, beam):
    """Stopping at once may be the most probable of all: it is no translation."""
    few = lines[:5]
    found = translator.translations(few, beam=beam, length_penalty=0, max_length=15)
    assert all(translation.text for translation in found)
    at_least = translator.translations(
        few, beam=beam, length_penalty=0, min_length=6, max_length=15
    )
    assert all(len(translation.candidates[0].ids) >= 6 for translation in at_least)
