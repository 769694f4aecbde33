"""Signals are taken while a run goes on, and given back after it."""

import os
import signal

import pytest

from clearhead.training.interrupts import Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_asks_to_end_and_is_given_back(number):
    before = signal.getsignal(number)
    with Interrupts() as interrupts:
        assert not interrupts.stop
        os.kill(os.getpid(), number)
    assert interrupts.stop
    assert signal.getsignal(number) is before


def test_a_pause_is_noted():
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGCONT)
    assert interrupts.paused
    assert not interrupts.stop
