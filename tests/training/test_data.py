"""From pairs to batches: every pair once an epoch, in an order that seed and epoch decide."""

import numpy as np
import pytest

from clearhead.model.vocabulary import Vocabulary
from clearhead.training.data import Pairs, batches, collate, prepare


@pytest.fixture(scope="module")
def vocabulary():
    texts = ["The cat sleeps because it can.", "Le chat dort parce qu'il peut. Paris"] * 200
    return Vocabulary.learn(texts, size=320, languages=("fr", "de"))


def random_pairs(rng, count, longest=30):
    sizes = rng.integers(2, longest, (2, count))
    at = [np.concatenate([[0], np.cumsum(size)]) for size in sizes]
    source, target = (rng.integers(20, 300, bounds[-1]) for bounds in at)
    return Pairs(source, at[0], target, at[1], np.full((count, 3), -1))


# Pieces


def test_pairs_become_pieces_with_tag_and_end(vocabulary):
    pairs = [("The cat sleeps.", "Le chat dort.", "fr"), ("The cat.", "Die Katze.", "de")]
    found = prepare(pairs, vocabulary, antecedents={}, slots=0.0, seed=0)
    assert len(found) == 2
    for i, (source, target, tag) in enumerate(pairs):
        pieces = found.source[found.source_at[i] : found.source_at[i + 1]].tolist()
        assert pieces == [*vocabulary.encode(source).ids, vocabulary.end]
        pieces = found.target[found.target_at[i] : found.target_at[i + 1]].tolist()
        assert pieces == [
            vocabulary.language(tag), *vocabulary.encode(target).ids, vocabulary.end
        ]  # fmt: skip


def test_pairs_that_are_too_long_are_left_out(vocabulary):
    pairs = [("cat " * 300, "chat", "fr"), ("cat", "chat", "fr")]
    assert len(prepare(pairs, vocabulary, antecedents={}, slots=0.0, seed=0)) == 1


def test_a_mark_finds_the_last_it_and_the_noun(vocabulary):
    text = "It is the cat that sleeps because it can."
    found = prepare([(text, "x", "fr")], vocabulary, antecedents={text: "cat"}, slots=0.0, seed=0)
    encoded = vocabulary.encode(text)
    it, first, last = found.guide[0]
    start, end = encoded.spans[it]
    assert (text[start:end].strip(), start) == ("it", text.rindex(" it"))
    assert text[encoded.spans[first][0] : encoded.spans[last - 1][1]].strip() == "cat"


@pytest.mark.parametrize("mark", ["dog", "", None])
def test_a_mark_that_is_not_in_the_sentence_guides_nothing(vocabulary, mark):
    text = "The cat sleeps because it can."
    found = prepare([(text, "x", "fr")], vocabulary, antecedents={text: mark}, slots=0.0, seed=0)
    assert found.guide.tolist() == [[-1, -1, -1]]


def test_shared_names_become_slots_on_both_sides(vocabulary):
    pairs = [("The cat of Paris.", "Le chat de Paris.", "fr")] * 200
    found = prepare(pairs, vocabulary, antecedents={}, slots=0.5, seed=0)
    drawn = []
    for i in range(len(found)):
        source = found.source[found.source_at[i] : found.source_at[i + 1]]
        target = found.target[found.target_at[i] : found.target_at[i + 1]]
        one, two = (np.intersect1d(side, vocabulary.slots) for side in (source, target))
        assert one.tolist() == two.tolist()
        drawn += one.tolist()
    assert 30 < len(drawn) < 110  # 0.5 · 0.7 of 200
    assert set(drawn) == set(vocabulary.slots)  # the last is learnt as well as the first


def test_the_same_seed_gives_the_same_pieces(vocabulary):
    pairs = [("The cat of Paris.", "Le chat de Paris.", "fr")] * 50
    one, two = (prepare(pairs, vocabulary, antecedents={}, slots=0.5, seed=3) for _ in range(2))
    assert np.array_equal(one.source, two.source)
    assert np.array_equal(one.target, two.target)


# Batches


@pytest.mark.parametrize("tokens", [1, 60, 500, 10**9])
def test_an_epoch_holds_every_pair_once(rng, tokens):
    found = batches(random_pairs(rng, 137), tokens=tokens, seed=0, epoch=0)
    assert sorted(np.concatenate(found).tolist()) == list(range(137))


def test_a_batch_holds_no_more_than_asked(rng):
    pairs = random_pairs(rng, 300)
    sizes = np.diff(pairs.source_at) + np.diff(pairs.target_at)
    for numbers in batches(pairs, tokens=200, seed=1, epoch=2):
        assert len(numbers) * sizes[numbers].max() <= 200 or len(numbers) == 1


def test_seed_and_epoch_alone_decide_the_order(rng):
    pairs = random_pairs(rng, 100)

    def order(seed, epoch):
        return np.concatenate(batches(pairs, tokens=100, seed=seed, epoch=epoch)).tolist()

    assert order(0, 0) == order(0, 0)
    assert order(0, 0) != order(0, 1) != order(1, 1)


def test_padding_is_on_the_right_and_counted_out(rng):
    pairs = random_pairs(rng, 9)
    batch = collate(pairs, np.array([4, 0, 8]), pad=0)
    for row, number in enumerate([4, 0, 8]):
        length = batch.source_lengths[row]
        piece = pairs.source[pairs.source_at[number] : pairs.source_at[number + 1]]
        assert batch.source[row, :length].tolist() == piece.tolist()
        assert not batch.source[row, length:].any()
        assert batch.target_lengths[row] + 1 == np.count_nonzero(batch.target[row])
    assert batch.tokens == batch.source_lengths.sum() + batch.target_lengths.sum()


def test_no_pairs_make_no_batches(rng):
    assert batches(random_pairs(rng, 0), tokens=10, seed=0, epoch=0) == []
