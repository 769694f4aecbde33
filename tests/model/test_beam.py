"""The bookkeeping of a beam search, on scores made by hand."""

import numpy as np
import pytest

from clearhead.errors import ArgumentError
from clearhead.model.beam import Beams
from clearhead.model.hypotheses import Search
from support.beams import END, OTHER_SLOT, SLOT, SPACE, A, B, C, row, run


def test_a_beam_finds_what_greedy_passes_by(toy):
    table = {2: row(a=3, b=2.8), 6: row(a=1, b=1, c=1, end=1), 7: row(end=6)}
    greedy, best = (run(toy, table, beam=beam, max_length=5)[0] for beam in (1, 4))
    assert (greedy.ids[0], best.ids) == (A, (B,))
    assert best.score > greedy.score


def test_the_best_candidates_are_those_of_trying_everything(toy, wandering):
    """All texts up to three pieces, scored one by one."""

    def log_softmax(scores):
        return scores - np.log(np.exp(scores).sum())

    every = {}
    texts = [[]]
    for length in range(4):
        for text in texts:
            total, last = 0.0, 2
            for piece in [*text, END]:
                total += log_softmax(wandering.get(last, row()))[piece]
                last = piece
            if length:
                every[tuple(text)] = total / (length + 1)
        texts = [[*text, piece] for text in texts for piece in (SPACE, A, B, C)]
    wanted = sorted(every, key=every.get, reverse=True)[:3]
    found = run(toy, {**wandering, 5: row()}, beam=64, n_best=3, max_length=3)
    assert [h.ids for h in found] == wanted
    assert [h.score for h in found] == pytest.approx([every[w] for w in wanted], abs=1e-6)


def test_no_hypothesis_ended_at_the_greatest_length_gives_the_best_one_marked(toy):
    never = {last: row(a=2, b=1) for last in range(9)}
    found = run(toy, never, beam=4, max_length=1)
    assert found[0].ids == (A,)
    assert not found[0].finished
    assert found[0].log_probability == pytest.approx(2 - np.log(np.exp(never[2]).sum()))


def test_an_end_right_at_the_greatest_length_counts(toy):
    table = {2: row(a=5), 6: row(end=5)}
    found = run(toy, table, beam=2, max_length=1)[0]
    assert (found.ids, found.finished) == ((A,), True)


def test_n_best_is_filled_with_cut_off_ones_after_all_that_ended(toy):
    table = {last: row(a=5, c=-60, end=-60) for last in range(8)}
    table |= {2: row(a=5, c=4), 8: row(end=5)}
    found = run(toy, table, beam=3, n_best=3, max_length=4)
    assert [h.finished for h in found] == [True, False, False]


@pytest.mark.parametrize("beam", [1, 4, 16, 64])
def test_a_larger_beam_never_gives_empty_text(toy, beam):
    """Stopping at once is the most probable of all; it is no translation."""
    table = {2: row(end=9, space=8, a=1), 5: row(end=9, a=0), 6: row(end=2, b=1), 7: row(end=1)}
    found = run(toy, table, beam=beam, length_penalty=0, max_length=6)
    assert all(set(h.ids) - {SPACE} for h in found)


def test_a_shortest_length_is_kept(toy):
    table = {last: row(end=5, a=1, b=0) for last in range(9)}
    assert len(run(toy, table, beam=3, min_length=4, max_length=9)[0].ids) == 4


def test_without_normalisation_short_text_wins_and_with_it_long(toy):
    table = {2: row(a=2, c=2.2), 6: row(b=5), 7: row(end=5), 8: row(end=3)}
    short = run(toy, table, beam=4, length_penalty=0, max_length=8)[0]
    long = run(toy, table, beam=4, length_penalty=2, max_length=8)[0]
    assert len(short.ids) < len(long.ids)


def test_tags_padding_and_slots_that_the_source_lacks_are_never_generated(toy):
    table = {last: row(tag=9, pad=9, slot=9, other=9, a=1, end=1) for last in range(9)}
    found = run(toy, table, beam=4, n_best=4, max_length=5)
    assert {piece for h in found for piece in h.ids} <= {SPACE, A, B, C}


def test_a_slot_of_the_source_is_generated_as_often_as_it_is_there(toy):
    table = {last: row(slot=5, a=2, end=3) for last in range(9)}
    found = run(toy, table, source=(SLOT, A, SLOT, END), beam=4, n_best=4, max_length=8)
    assert max(h.ids.count(SLOT) for h in found) == 2
    assert all(OTHER_SLOT not in h.ids for h in found)


def test_what_carries_the_slots_over_comes_before_what_is_likelier(toy):
    table = {last: row(end=5, a=3, slot=0) for last in range(9)}
    found = run(toy, table, source=(SLOT, END), beam=4, n_best=2, max_length=6)
    assert found[0].ids.count(SLOT) == 1
    assert found[0].lost == 0


def test_a_hypothesis_that_would_end_without_what_is_due_carries_it_first(toy):
    """However unlikely the slot is; the space before it may come between, once."""
    table = {last: row(end=9, a=8, b=8, c=8, slot=-30, space=-2) for last in range(9)}
    for beam in (1, 4):
        found = run(toy, table, source=(SLOT, A, SLOT, END), beam=beam, max_length=12)[0]
        assert found.ids.count(SLOT) == 2
        assert found.finished
        assert not found.lost


def test_white_space_never_follows_white_space(toy):
    table = {last: row(space=9, a=8, end=-9) for last in range(9)}
    for found in run(toy, table, beam=4, n_best=4, max_length=7):
        assert (SPACE, SPACE) not in zip(found.ids, found.ids[1:], strict=False)


def test_sentences_that_are_done_leave_the_others_as_they_are(toy):
    ended = row(end=9)
    beams = Beams([[A, END], [B, END]], toy.pieces, Search(beam=1, max_length=9))
    beams.advance(np.array([row(a=5), row(b=5)], np.float32))
    kept, parents, last = beams.advance(np.array([ended, row(c=5)], np.float32))
    assert (kept.tolist(), parents.tolist(), last.tolist()) == ([1], [[0]], [[C]])
    kept, _, _ = beams.advance(np.array([ended], np.float32))
    assert not len(kept)
    assert [found[0].ids for found in beams.best()] == [(A,), (B, C)]


@pytest.mark.parametrize(
    "options",
    [
        {"beam": 0}, {"beam": 2.5}, {"n_best": 0}, {"max_length": 0}, {"min_length": -1},
        {"no_repeat": 1.5}, {"batch": -1}, {"beam": True},
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_meant_are_refused_by_name(options):
    with pytest.raises(
        ArgumentError, match=f"{next(iter(options))}: found .*; wanted a whole number"
    ):
        Search(**options)


@pytest.mark.parametrize("found", [float("nan"), -1, 11, "1"])
def test_a_length_penalty_that_cannot_be_meant_is_refused(found):
    with pytest.raises(ArgumentError, match=r"length_penalty: found .*; wanted a number from 0"):
        Search(length_penalty=found)


def test_a_least_length_above_the_greatest_is_refused():
    with pytest.raises(ArgumentError, match="min_length: found 9; wanted at most max_length, 8"):
        Search(min_length=9, max_length=8)
    assert Search(min_length=99).limit(3) > 99
