"""Checks first, then the rounds: in each, ours and the peer in turn, in one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from translation_table.ours import TO, Ours
from translation_table.ratios import row

__all__ = ["interleaved", "measure"]

_REST = 0.3  # seconds: OpenMP's threads of one library spin on for 0.2 after their work
_BATCHES = (32, 64, 128, 256)  # tried for the best


def measure(options: Any, say: Callable[[str], None]) -> dict[str, Any]:
    """Everything that was asked for, as one object."""
    ours = Ours(options.lines, options.model, options.workers)
    found: dict[str, Any] = {"checks": {}, "rows": [], "absent": {}}
    for beam in options.beams:
        off = ours.check(beam, [1, 32, None])
        found["checks"][f"beam {beam}"] = {"log_probability_off": off}
        say(f"beam {beam}: the same text at batches 1, 32 and default; scores off by {off:.0e}")
    if "generate" in options.peers:
        _with_generate(options, ours, found, say)
    if "ctranslate2" in options.peers:
        _with_ctranslate(options, ours, found, say)
    return found


def interleaved(
    calls: list[Callable[[], Any]], rounds: int, rest: float = _REST
) -> list[list[float]]:
    """Seconds of every call in every round, taken in turn, after one round that does not count."""
    times: list[list[float]] = [[] for _ in calls]
    for number in range(rounds + 1):
        for call, taken in zip(calls, times, strict=True):
            time.sleep(rest)
            start = time.perf_counter()
            call()
            if number:
                taken.append(time.perf_counter() - start)
    return times


def _with_generate(options: Any, ours: Ours, found: Any, say: Callable[[str], None]) -> None:
    try:
        from translation_table.generate import Generate
    except ImportError as error:
        found["absent"]["generate"] = f"{error}; pip install 'clearhead[bench]'"
        return
    count = len(ours.sentences)
    for beam in options.beams:
        written = ours.written if beam == 1 else ours.pieces(beam)
        lengths = [len(ids) + 1 for ids in written]
        peer = Generate(ours.translator.config, ours.sources, lengths, options.threads)
        for batch in (1, 32) if beam == 1 else (32,):
            calls = [lambda: ours.translate(beam, batch), lambda: peer.translate(beam, batch)]  # noqa: B023
            times = interleaved(calls, options.rounds)
            pieces = {"pieces": sum(lengths), "peer_pieces": peer.translate(beam, batch)}
            _add(found, say, row("generate", beam, batch, count, *times, **pieces))


def _with_ctranslate(options: Any, ours: Ours, found: Any, say: Callable[[str], None]) -> None:
    try:
        from translation_table.ctranslate import CTranslate

        language = ours.translator.vocabulary.language(TO)
        peers = {
            workers: CTranslate(ours.translator, ours.sources, language, options.threads, workers)
            for workers in sorted({1, options.threads})
        }
    except ImportError as error:
        found["absent"]["ctranslate2"] = f"{error}; pip install 'clearhead[bench]'"
        return
    count = len(ours.sentences)
    for beam in options.beams:
        same = _same(ours, peers[1], beam)
        found["checks"][f"ctranslate2, beam {beam}"] = same
        say(f"beam {beam}: CTranslate2 writes the same in {same['same']} of {count} sentences")
        assert same["same"] >= (0.97 if beam == 1 else 0.85) * count, "it is not the same model"
        calls = [lambda: ours.translate(beam, 32), lambda: peers[1].translate(beam, 32)]  # noqa: B023
        _add(found, say, row("ctranslate2", beam, 32, count, *interleaved(calls, options.rounds)))
        workers, batch = _best(peers, beam)
        calls[0] = lambda: ours.translate(beam, None)  # noqa: B023
        calls[1] = lambda: peers[workers].translate(beam, batch)  # noqa: B023
        times = interleaved(calls, options.rounds)
        best = {"peer_batch": batch, "peer_workers": workers}
        _add(found, say, row("ctranslate2", beam, "best", count, *times, **best))


def _same(ours: Ours, peer: Any, beam: int) -> dict[str, int]:
    """In how many sentences CTranslate2 writes our pieces, and how many pieces there are."""
    mine, theirs = ours.pieces(beam), peer.translate(beam, 32, rules=True)
    return {
        "same": sum(tuple(b) == a for a, b in zip(mine, theirs, strict=True)),
        "sentences": len(mine),
        "pieces": sum(map(len, mine)),
        "peer_pieces": sum(map(len, peer.translate(beam, 32))),
    }


def _best(peers: dict[int, Any], beam: int) -> tuple[int, int]:
    """The number of workers and the batch with which CTranslate2 is fastest."""
    ways = [(workers, batch) for workers in peers for batch in _BATCHES]
    calls = [lambda w=w, b=b: peers[w].translate(beam, b) for w, b in ways]
    times = [statistics.median(t) for t in interleaved(calls, 2)]
    return ways[times.index(min(times))]


def _add(found: Any, say: Callable[[str], None], line: dict[str, Any]) -> None:
    found["rows"].append(line)
    say(
        f"beam {line['beam']}, batch {line['batch']}: {line['ours_per_second']:.0f} sentences a "
        f"second, {line['peer']} {line['peer_per_second']:.0f}: {line['ratio']:.2f} x"
    )
