import pytest

from attention_table import measuring
from attention_table.cells import Cell
from attention_table.measuring import Effort, measure
from attention_table.peers import Peer, Way
from attention_table.peers.registry import Lazy

CELL = Cell("short", 1, 2, 16, 8, looked=True)
EFFORT = Effort(threads=1, seconds=0.0, rounds=1, memory=10**9)


def peer(name, ways, **options):
    return Peer(name, name, ("numpy",), ways, **options)


def right(inputs, threads):
    return Lazy("torch_ways", "fused")(inputs, threads)


def wrong(inputs, threads):
    way = right(inputs, threads)["sdpa"]
    return {"half": Way(way.call, lambda out: way.read(out) * 0.5)}


def broken(inputs, threads):
    def call():
        raise RuntimeError("no such operator\nand more")

    return {"broken": Way(call, lambda out: out)}


def test_ours_and_torch_are_timed_and_their_errors_kept():
    found = measure(CELL, "float32", [], EFFORT)
    assert (found["cell"], found["kind"]) == (CELL.name, "float32")
    assert set(found["peers"]) == {"ours", "looking", "torch"}
    for entry in found["peers"].values():
        assert 0 < entry["min"] <= entry["median"]
        assert entry["samples"] >= 1
        assert entry["error"] < 1e-5


def test_who_is_wrong_or_fails_is_not_timed():
    peers = [peer("half", wrong), peer("bad", broken), peer("none", lambda *_: {})]
    found = measure(CELL, "float32", peers, EFFORT)["peers"]
    assert "half is off by" in found["half"]["wrong"]
    assert found["bad"] == {"failed": "broken: RuntimeError: no such operator"}
    assert "none" not in found


def test_of_several_ways_one_that_is_right_counts():
    def both(inputs, threads):
        return {**wrong(inputs, threads), **right(inputs, threads)}

    found = measure(CELL, "float32", [peer("both", both)], EFFORT)["peers"]["both"]
    assert found["way"] == "sdpa"
    assert "median" in found


def test_a_slow_first_call_is_the_only_sample(monkeypatch):
    monkeypatch.setattr(measuring, "SLOW", 0.0)
    found = measure(CELL, "float32", [peer("slow", right)], EFFORT)["peers"]["slow"]
    assert found["samples"] >= 1


def test_who_needs_too_much_memory_or_has_not_the_kind_is_left_out():
    small = Effort(threads=1, seconds=0.0, rounds=1, memory=1000)
    peers = [peer("dense", right, dense=3), peer("other", right, kinds=("bfloat16",))]
    found = measure(CELL, "float32", peers, small)["peers"]
    assert found["dense"]["left_out"].startswith("its scores need")
    assert "other" not in found


def test_the_quick_effort_leaves_out_what_compiles_or_is_huge():
    quick = Effort.of(1, True, None, None)
    assert quick.seconds < Effort.of(1, False, None, None).seconds
    assert "compiles" in quick.objection(peer("c", right, compiles=True), CELL)
    huge = Cell("long", 1, 8, 8192, 64)
    quick = Effort(1, 1.0, 1, 10**13, quick=True)
    assert "too slow for --quick" in quick.objection(peer("d", right, dense=3), huge)
    assert quick.objection(peer("t", right), huge) is None


def test_given_seconds_and_rounds_count():
    effort = Effort.of(2, True, 9.0, 7)
    assert (effort.threads, effort.seconds, effort.rounds) == (2, 9.0, 7)


def test_compiling_alone_asks_only_those_that_compile():
    told = []
    peers = [peer("plain", broken), peer("slow to start", right, compiles=True)]
    measuring.compile_only(CELL, "float32", peers, told.append)
    assert told == [f"{CELL.title}, float32: slow to start compiled"]


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_half_kinds_are_measured_too(kind):
    found = measure(CELL, kind, [], EFFORT)["peers"]
    assert "median" in found["ours"], found["ours"]
