"""A beam search without a model: scores made by hand."""

import numpy as np

from clearhead.model.beam import Beams
from clearhead.model.hypotheses import Search

END, SLOT, OTHER_SLOT, SPACE, A, B, C = 0, 3, 4, 5, 6, 7, 8


def run(toy, table, source=(A, END), **options):
    """Searches where the next piece depends on the last one alone: table[last] are its scores."""
    beams = Beams([list(source)], toy.pieces, Search(**{"length_penalty": 1.0, **options}))
    last = np.full((1, 1), 2)
    for _ in range(200):
        scores = np.array([table.get(int(piece), row()) for piece in last[0]], np.float32)
        kept, _, last = beams.advance(scores)
        if not len(kept):
            return beams.best()[0][: beams.how.n_best]
    raise AssertionError("the search does not end")


def row(**scores):
    """Scores of nine pieces by name, −9 where none is given."""
    names = {
        "end": 0,
        "pad": 1,
        "tag": 2,
        "slot": 3,
        "other": 4,
        "space": 5,
        "a": 6,
        "b": 7,
        "c": 8,
    }
    found = np.full(9, -9.0)
    for name, score in scores.items():
        found[names[name]] = score
    return found
