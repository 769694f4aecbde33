"""What a search may write and must, on scores made by hand."""

from itertools import pairwise

import numpy as np
import pytest

from clearhead.model.beam import Beams
from clearhead.model.hypotheses import Search
from clearhead.model.rules import Prefix, forbid_repeats
from support.beams import END, SPACE, A, B, C, row, run


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_pieces_in_a_row_stand_twice_where_that_was_asked(toy, wandering, beam, n):
    table = {**wandering, 6: row(b=9), 7: row(a=9), 8: row(a=1), 2: row(a=9)}
    free = run(toy, table, beam=beam, max_length=12)[0].ids
    found = run(toy, table, beam=beam, max_length=12, n_best=beam, no_repeat=n)
    assert len(set(pairwise(free))) < len(free) - 1
    for ids in (h.ids for h in found):
        grams = list(zip(*(ids[i:] for i in range(n)), strict=False))
        assert len(set(grams)) == len(grams)


@pytest.mark.parametrize("beam", [1, 4])
def test_where_nothing_more_may_be_written_what_stands_is_returned_and_marked(toy, beam):
    """Four pieces at most may follow each other if none stands twice, and no end was chosen."""
    never = {last: row(a=2, b=1, end=-np.inf) for last in range(9)}
    found = run(toy, never, beam=beam, max_length=50, no_repeat=1)[0]
    assert sorted(found.ids) == [SPACE, A, B, C]
    assert not found.finished


def test_a_prefix_is_written_as_it_stands_and_the_rest_is_searched(toy, wandering):
    """Even pieces that the rules would forbid, with their own probability."""
    ids = (SPACE, SPACE, C, C, C)
    beams = Beams(
        [[A, END]], toy.pieces, Search(length_penalty=1.0, no_repeat=1), prefixes=[Prefix(ids)]
    )
    last, total = np.full((1, 1), 2), 0.0
    for piece in (*ids, END):
        scores = np.array([wandering.get(int(p), row()) for p in last[0]], np.float32)
        total += scores[0, piece] - np.log(np.exp(scores[0].astype(float)).sum())
        kept, _, last = beams.advance(scores)
    while len(kept):
        scores = np.array([wandering.get(int(p), row()) for p in last[0]], np.float32)
        kept, _, last = beams.advance(scores)
    found = {h.ids: h for h in beams.best()[0]}
    assert all(each[:5] == ids for each in found)
    assert found[ids].log_probability == pytest.approx(total, abs=1e-5)


def test_what_may_not_follow_a_prefix_does_not(toy):
    table = {last: row(a=9, b=5, end=3) for last in range(9)}
    never = np.zeros(9, bool)
    never[[A, END]] = True
    beams = Beams([[A, END]], toy.pieces, Search(beam=1), prefixes=[Prefix((C,), never)])
    last = np.full((1, 1), 2)
    for _ in range(2):
        _, _, last = beams.advance(np.array([table[int(last[0, 0])]], np.float32))
    assert last.tolist() == [[B]]


def test_prefixes_of_any_length_share_a_batch(toy, wandering):
    prefixes = [Prefix(), Prefix((B,)), Prefix((C, C, C))]

    def found(begun):
        beams = Beams([[A, END]] * len(begun), toy.pieces, Search(beam=3), prefixes=begun)
        last = np.full((len(begun), 1), 2)
        while last.size:
            table = [wandering.get(int(piece), row()) for piece in last.reshape(-1)]
            _, _, last = beams.advance(np.array(table, np.float32))
        return [[(h.ids, h.score) for h in hypotheses] for hypotheses in beams.best()]

    assert found(prefixes) == [found([each])[0] for each in prefixes]


def test_every_gram_is_looked_for_in_the_row_it_stands_in(rng):
    """Against looking them up one by one."""
    written = rng.integers(0, 4, (20, 15))
    for n in (1, 2, 3, 4, 15, 16):
        scores = np.zeros((20, 4))
        forbid_repeats(scores, written, n, range(0, 20, 2))
        for r, past in enumerate(written.tolist()):
            grams = {tuple(past[i : i + n]) for i in range(15 - n + 1)}
            tail = past[15 - n + 1 :] if n > 1 else []
            again = [(*tail, piece) in grams and r % 2 == 0 for piece in range(4)]
            assert np.isinf(scores[r]).tolist() == again
