import random

import pytest

from attention_table.timing import Timed, interleaved, summary, timed_once


class Machine:
    """A clock that only calls move on, each by its own seconds."""

    def __init__(self):
        self.now, self.order = 0.0, []

    def clock(self):
        return self.now

    def call(self, name, seconds):
        def run():
            self.now += seconds
            self.order.append(name)
            return name

        return run

    def timed(self, name, seconds, leading=False):
        return Timed(self.call(name, seconds), seconds, leading)


def test_a_call_is_timed_and_returns_what_it_found():
    machine = Machine()
    assert timed_once(machine.call("a", 0.5), machine.clock) == ("a", 0.5)


def test_a_block_warms_a_short_call_and_times_each_one():
    machine = Machine()
    one = machine.timed("a", 0.001)
    one.block(machine.clock)
    assert len(one.times) == pytest.approx(12, abs=1)
    assert len(machine.order) > len(one.times)
    assert one.times == pytest.approx([0.001] * len(one.times))
    assert one.spent == pytest.approx(0.001 * len(machine.order))


def test_a_long_call_is_timed_alone():
    machine = Machine()
    one = machine.timed("a", 0.3)
    one.block(machine.clock)
    assert (one.times, machine.order) == ([pytest.approx(0.3)], ["a"])


def test_leading_calls_take_part_in_every_round():
    machine = Machine()
    first, second = machine.timed("a", 0.2, True), machine.timed("b", 0.4, True)
    interleaved([first, second], 0.0, 5, random.Random(0), machine.clock)
    assert (len(first.times), len(second.times)) == (5, 5)
    rounds = [set(machine.order[i : i + 2]) for i in range(0, 10, 2)]
    assert rounds == [{"a", "b"}] * 5


def test_rounds_go_on_until_the_time_is_up():
    machine = Machine()
    one = machine.timed("a", 0.1, True)
    interleaved([one], 1.0, 5, random.Random(0), machine.clock)
    assert machine.now == pytest.approx(1.0, abs=0.11)


def test_others_have_a_share_of_the_time_spread_over_it():
    machine = Machine()
    lead, other = machine.timed("lead", 0.1, True), machine.timed("other", 0.1)
    interleaved([lead, other], 4.0, 5, random.Random(0), machine.clock)
    assert 10 <= len(other.times) <= 21
    assert "other" in machine.order[-6:]


def test_slow_others_have_three_samples_or_one():
    machine = Machine()
    lead, slow = machine.timed("lead", 0.1, True), machine.timed("slow", 0.5)
    slowest = machine.timed("slowest", 2.0)
    interleaved([lead, slow, slowest], 3.0, 5, random.Random(0), machine.clock)
    assert len(slow.times) == 3
    assert len(slowest.times) == 1


def test_who_was_timed_once_before_is_not_timed_again():
    machine = Machine()
    lead, slow = machine.timed("lead", 0.1, True), machine.timed("slow", 5.0)
    slow.times, slow.spent = [5.0], 5.0
    interleaved([lead, slow], 1.0, 5, random.Random(0), machine.clock)
    assert slow.times == [5.0]


def test_the_summary_of_one_and_of_many():
    assert summary([2.0]) == {"median": 2.0, "min": 2.0, "low": 2.0, "high": 2.0, "samples": 1}
    found = summary([4.0, 1.0, 2.0, 3.0, 5.0])
    assert found == {"median": 3.0, "min": 1.0, "low": 2.0, "high": 4.0, "samples": 5}
