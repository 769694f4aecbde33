"""Text through the search: a candidate is a text, in the pieces that it is cut into by itself."""

import numpy as np
import pytest

from clearhead.model.hypotheses import Hypothesis, Search
from clearhead.model.part_search import find_candidates
from clearhead.model.rules import Prefix

PARTS = ["The animal was tired.", "I have 3 cats", "it", "to Łódź and back", "🙂", "12:30"]


@pytest.fixture
def found(translator):
    def found(parts=PARTS, prefixes=None, **options):
        how = Search(**{"beam": 6, "n_best": 6, "max_length": 30, **options})
        encoded = [translator.encode(part) for part in parts]
        language = translator.language("fr")
        return find_candidates(translator, parts, encoded, language, how, prefixes=prefixes)

    return found


def test_a_finished_candidate_is_in_the_pieces_that_its_text_is_cut_into(translator, found):
    ended = 0
    for part, candidates in zip(PARTS, found(), strict=True):
        for candidate in candidates:
            if candidate.finished and not candidate.lost:
                source = translator.encode(part)
                assert list(candidate.ids) == translator.target(candidate.text, source)
                ended += 1
    assert ended > 2


def test_hypotheses_of_one_text_are_one_candidate_with_the_probability_of_its_own_pieces(
    translator, found, monkeypatch
):
    """The letters of "street" one by one, and as they are cut."""
    vocabulary = translator.vocabulary
    whole = tuple(vocabulary.encode("street").ids)
    letters = [
        vocabulary.encode("s").ids[0],
        *(vocabulary.encode(f"1{c}").ids[-1] for c in "treet"),
    ]
    apart = tuple(letters)
    assert vocabulary.decode(apart) == vocabulary.decode(whole) == "street"
    assert apart != whole

    def twice(*_):
        return [[Hypothesis(apart, -0.1, -0.1), Hypothesis(whole, -9.0, -9.0)]]

    monkeypatch.setattr("clearhead.model.part_search.search", twice)
    (candidates,) = found(["it"])
    assert [(c.text, c.ids) for c in candidates] == [("street", whole)]
    assert candidates[0].log_probability == pytest.approx(
        translator.score("it", "street"), abs=1e-4
    )


def test_best_comes_first_and_no_more_than_were_asked_for(found):
    for candidates in found(n_best=3):
        assert 1 <= len(candidates) <= 3
        keys = [(not c.finished, len(c.lost), -c.score) for c in candidates]
        assert keys == sorted(keys)


def test_where_nothing_is_to_be_translated_the_part_is_its_only_candidate(found):
    for part, candidates in zip(PARTS[4:], found()[4:], strict=True):
        assert [c.text for c in candidates] == [part]


def test_with_a_prefix_every_part_is_searched(translator, found):
    ids = tuple(translator.vocabulary.encode("il est").ids)
    never = np.zeros(translator.config.vocabulary, bool)
    for candidates in found(PARTS[:3], prefixes=[Prefix(ids, never)] * 3):
        for candidate in candidates:
            assert candidate.text.startswith("il est")


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_asked_of_a_search_holds_of_all_that_it_returns(found, seed):
    rng = np.random.default_rng(seed)
    least = int(rng.integers(0, 8))
    n, most = int(rng.integers(0, 4)), int(rng.integers(max(least, 1), 20))
    for candidates in found(
        PARTS[:4], beam=int(rng.integers(1, 6)), n_best=4, min_length=least, max_length=most,
        no_repeat=n, length_penalty=float(rng.uniform(0, 2)),
    ):  # fmt: skip
        assert candidates
        for c in candidates:
            assert len(c.ids) <= most or c.finished
            assert len(c.ids) >= least or not c.finished
            grams = [c.ids[i : i + n] for i in range(len(c.ids) - n + 1)]
            assert not n or len(set(grams)) == len(grams)
