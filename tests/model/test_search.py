"""Search with the model: batches, padding, and scores that reading again reproduces."""

import numpy as np
import pytest
import torch

from clearhead.errors import ArgumentError
from clearhead.model.hypotheses import Search
from clearhead.model.scoring import log_probabilities
from clearhead.model.search import search
from clearhead.model.tree import map_tree


@pytest.fixture
def run(weights, config, pieces, vocabulary):
    def run(sources, **options):
        options = {"max_length": 24, **options}
        found = search(
            weights, config, sources, pieces, vocabulary.language("fr"), Search(**options)
        )
        return [hypotheses[: options.get("n_best", 1)] for hypotheses in found]

    return run


@pytest.fixture
def forced(weights, config, vocabulary):
    """Log-probabilities by reading hypotheses again, each alone."""

    def forced(source, hypothesis):
        tail = [vocabulary.end] if hypothesis.finished else []
        target = [vocabulary.language("fr"), *hypothesis.ids, *tail]
        return sum(log_probabilities(weights, config, [source], [target], vocabulary.pad)[0])

    return forced


def many(rng, config, vocabulary, count):
    low = vocabulary.special
    return [
        [*rng.integers(low, config.vocabulary, n).tolist(), vocabulary.end]
        for n in rng.integers(0, 15, count)
    ]


def same(found, wanted):
    for ours, theirs in zip(found, wanted, strict=True):
        assert [h.ids for h in ours] == [h.ids for h in theirs]
        for a, b in zip(ours, theirs, strict=True):
            assert a.log_probability == pytest.approx(b.log_probability, abs=1e-4)


def test_some_end_and_some_do_not(run, sources):
    """The random model is a fair test: both happen."""
    ended = [hypothesis.finished for found in run(sources) for hypothesis in found]
    assert any(ended)
    assert not all(ended)


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("batch", [1, 7, 50])
def test_neither_batch_size_nor_order_changes_text_or_score(
    run, rng, config, vocabulary, beam, batch
):
    sentences = many(rng, config, vocabulary, 50)
    wanted = run(sentences, beam=beam)
    order = rng.permutation(50)
    found = run([sentences[i] for i in order], beam=beam, batch=batch)
    same([found[i] for i in np.argsort(order)], wanted)


@pytest.mark.parametrize("extra", [0, 5, 64])
def test_padding_changes_neither_text_nor_score(run, rng, sources, config, vocabulary, extra):
    """A long sentence in the batch pads the others."""
    longest = max(map(len, sources)) + extra
    mate = [*rng.integers(vocabulary.special, config.vocabulary, longest - 1), vocabulary.end]
    found = run([*sources, mate], beam=4, batch=50)
    for one, source in zip(found, sources, strict=False):
        same([one], run([source], beam=4))


@pytest.mark.parametrize("beam", [1, 4, 9])
def test_every_score_is_reproduced_by_reading_the_hypothesis_again(run, forced, sources, beam):
    """The end counts where there is one; caches that stayed behind would show here."""
    for source, found in zip(
        sources, run(sources, beam=beam, n_best=beam, length_penalty=0.5), strict=True
    ):
        assert len(found) == beam
        for hypothesis in found:
            assert hypothesis.log_probability == pytest.approx(forced(source, hypothesis), abs=1e-4)
            length = len(hypothesis.ids) + hypothesis.finished
            assert hypothesis.score == pytest.approx(hypothesis.log_probability / length**0.5)


def test_scoring_many_pairs_equals_scoring_each(run, sources, forced, weights, config, vocabulary):
    best = [found[0] for found in run(sources)]
    targets = [[vocabulary.language("fr"), *h.ids, vocabulary.end] for h in best]
    alone = [
        log_probabilities(weights, config, [s], [t], vocabulary.pad)[0]
        for s, t in zip(sources, targets, strict=True)
    ]
    for batch in (1, 7, 100):
        found = log_probabilities(weights, config, sources, targets, vocabulary.pad, batch)
        assert [len(row) for row in found] == [len(target) - 1 for target in targets]
        for a, b in zip(found, alone, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)


def test_candidates_are_sorted_and_no_two_are_the_same(run, sources):
    for found in run(sources, beam=6, n_best=6):
        assert len({(h.ids, h.finished) for h in found}) == 6
        keys = [(not h.finished, -h.score) for h in found]
        assert keys == sorted(keys)


def test_one_piece_at_most_gives_the_best_unfinished_one(run, sources):
    for found in run(sources, beam=4, max_length=1):
        assert len(found[0].ids) == 1


def test_asking_for_more_than_the_beam_widens_it(run, sources):
    assert [len(found) for found in run(sources, beam=1, n_best=5)] == [5] * len(sources)


def test_torch_weights_give_the_same_text(run, weights, config, pieces, vocabulary, sources):
    t = map_tree(torch.from_numpy, weights)
    how = Search(max_length=24)
    found = search(t, config, sources, pieces, vocabulary.language("fr"), how)
    same([hypotheses[:1] for hypotheses in found], run(sources))


def test_progress_adds_up(weights, config, pieces, vocabulary, sources):
    seen = []
    how = Search(batch=3, max_length=3)
    search(weights, config, sources, pieces, vocabulary.language("fr"), how, seen.append)
    assert sum(seen) == len(sources)
    assert max(seen) <= 3


def test_no_sentences_give_none_and_no_pieces_are_refused(run):
    assert run([]) == []
    with pytest.raises(ArgumentError, match="found one without pieces"):
        run([[5], []])
