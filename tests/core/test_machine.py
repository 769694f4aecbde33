import pytest

import clearhead as ch


def test_machine_names_the_path_and_what_this_build_holds():
    found = ch.machine()
    assert found.isa in found.isas
    assert found.isas[0] == "baseline"
    assert found.threads >= 1


def test_threads_are_set_for_the_process_and_given_back():
    before = ch.machine().threads
    ch.set_threads(3)
    assert ch.machine().threads == 3
    ch.set_threads(None)
    assert ch.machine().threads == before


@pytest.mark.parametrize(
    ("n", "kind", "message"),
    [
        (0, ValueError, "n: found 0; wanted a number of threads from 1"),
        (-2, ValueError, "n: found -2"),
        (5000, ValueError, "n: found 5000"),
        (True, TypeError, "n: found True"),
        (2.0, TypeError, r"n: found 2\.0"),
        ("two", TypeError, "n: found 'two'"),
    ],
)
def test_what_is_no_number_of_threads_is_refused(n, kind, message):
    with pytest.raises(kind, match=message) as refused:
        ch.set_threads(n)
    assert isinstance(refused.value, ch.ClearheadError)
