"""Threads while a model runs."""

import threading

import pytest

import clearhead as ch
from clearhead.model.threads import attention_on_one_thread


@pytest.fixture
def three_threads():
    ch.set_threads(3)
    yield
    ch.set_threads(None)


def test_what_was_set_comes_back_also_after_an_error(three_threads):
    def fail():
        with attention_on_one_thread():
            assert ch.machine().threads == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert ch.machine().threads == 3


def test_users_that_overlap_leave_what_was_before_the_first(three_threads):
    first, second = attention_on_one_thread(), attention_on_one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert ch.machine().threads == 1
    second.__exit__(None, None, None)
    assert ch.machine().threads == 3


def test_translating_in_several_threads_restores_it(three_threads, translator):
    running = [
        threading.Thread(target=translator.translations, args=(["it"],), kwargs={"max_length": 5})
        for _ in range(4)
    ]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert ch.machine().threads == 3
