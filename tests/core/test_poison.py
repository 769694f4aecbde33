"""NaN and infinity: behind a mask they leave every bit, in sight they ruin those who see them.

``tests/native/test_isas.py`` runs this file again for each instruction set.
"""

import numpy as np
import pytest

import clearhead as ch
from support.cases import KINDS, assert_same, same_bits
from support.observations import everything, parts

kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@kinds
@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("described", [True, False])
def test_poison_nobody_may_see_leaves_every_bit(rng, kind, poison, described):
    n = m = 140
    q, k, v = (rng.standard_normal((2, 3, n, 33)).astype(kind) for _ in range(3))
    hidden = np.zeros((2, m), bool)
    hidden[0, 100:] = hidden[1, 5:] = True
    mask = ch.lengths(keys=[100, 5]) if described else ch.allowed(~hidden[:, None, None])
    observe = everything(top=9, map=5)
    clean = ch.attention(q, k, v, mask=mask & ch.causal(), observe=observe)
    for x in (k, v):
        np.moveaxis(x, 2, 1)[hidden] = poison
    out, seen = ch.attention(q, k, v, mask=mask & ch.causal(), observe=observe)
    assert same_bits(out, clean[0])
    assert same_bits(seen, clean[1])


@kinds
@pytest.mark.parametrize("spoilt", ["key", "value"])
def test_poison_inside_a_partly_visible_tile_ruins_those_who_see_it(rng, kind, spoilt):
    n = m = 100
    arrays = {x: rng.standard_normal((1, 2, n, 19)).astype(kind) for x in ("query", "key", "value")}
    observe = everything()
    clean, seen = ch.attention(**arrays, mask=ch.causal(), observe=observe)
    arrays[spoilt][:, :, 50] = np.nan
    out, seen_again = ch.attention(**arrays, mask=ch.causal(), observe=observe)
    assert same_bits(np.ascontiguousarray(out[:, :, :50]), np.ascontiguousarray(clean[:, :, :50]))
    assert np.isnan(out[:, :, 50:].astype(np.float32)).all()
    first = {"N": slice(50)}
    assert_same(parts(seen, **first), parts(seen_again, **first))
    only_some = rng.random((n, m)) < 0.3
    out = ch.attention(**arrays, mask=only_some)
    sees = only_some[:, 50]
    assert np.isnan(out[:, :, sees].astype(np.float32)).all()
    assert not np.isnan(out[:, :, ~sees].astype(np.float32)).any()


@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_a_poisoned_query_ruins_itself_alone(rng, poison):
    q, k, v = (rng.standard_normal((1, 2, 80, 16)).astype(np.float32) for _ in range(3))
    observe = everything(rows=[7])
    clean, _ = ch.attention(q, k, v, mask=ch.causal(), observe=observe)
    q[:, :, 7, 3] = poison
    out, seen = ch.attention(q, k, v, mask=ch.causal(), observe=observe)
    others = np.arange(80) != 7
    assert np.isnan(out[:, :, 7]).all()
    assert np.array_equal(out[:, :, others], clean[:, :, others])
    assert not seen.weights[:, :, 7, 8:].any()  # what it may not look at stays 0
    q[...] = np.nan
    assert not ch.attention(q, k, v, mask=ch.lengths(queries=[0])).any()
