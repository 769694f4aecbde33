"""Threads while a model runs."""

import threading

import pytest

import clearhead as ch
from clearhead.model import threads
from clearhead.model.threads import attention_on_one_thread, side_by_side


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


def test_jobs_of_several_workers_run_at_the_same_time():
    """Each waits until the other has come, which one thread would do forever."""
    meeting = threading.Barrier(2, timeout=60)

    def run(job):
        meeting.wait()
        return job

    assert sorted(side_by_side(run, [1, 2], workers=2)) == [1, 2]


def test_one_worker_needs_no_thread_and_keeps_the_order():
    found = side_by_side(lambda job: (job, threading.current_thread()), [3, 1], workers=1)
    assert list(found) == [(3, threading.current_thread()), (1, threading.current_thread())]


def test_after_an_error_nothing_more_begins(monkeypatch):
    begun, told = [], threading.Event()

    class Pool(threads.ThreadPoolExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            told.set()
            super().shutdown(wait=wait)

    def run(job):
        begun.append(job)
        if job == 0:
            raise ZeroDivisionError
        told.wait(timeout=60)

    monkeypatch.setattr(threads, "ThreadPoolExecutor", Pool)
    with pytest.raises(ZeroDivisionError):
        list(side_by_side(run, range(100), workers=2))
    assert len(begun) < 5


def test_workers_change_no_text(translator):
    texts = [f"the cat {n} saw it" * (1 + n % 3) for n in range(30)]
    wanted = translator.translate(texts, beam=2, max_length=6)
    done = []
    found = translator.translations(texts, beam=2, max_length=6, workers=2, done=done.append)
    assert [one.text for one in found] == wanted
    assert sum(done) == 30
    assert len([n for n in done if n]) > 1
