"""A small translation model with fixed random weights, for what needs no training."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import random_weights
from clearhead.model.hypotheses import Pieces
from clearhead.model.translation import decode, encode
from clearhead.model.translator import Translator
from clearhead.model.tree import map_tree
from clearhead.model.vocabulary import Vocabulary
from support.beams import row

TEXTS = [
    "The animal didn't cross the street because it was too tired.",
    "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "I have 3 cats, 14 dogs and 159 birds: they're mine!",
    "Where do you live? In a house (a small one).",
]


def strong_weights(config, seed=0):
    """Random weights that write to the stream: those that training starts from write nothing."""
    rng = np.random.default_rng(seed)

    def drawn(leaf):
        if leaf.ndim != 2:
            return leaf + 0.1 * rng.standard_normal(leaf.shape).astype(np.float32)
        return (rng.standard_normal(leaf.shape) / np.sqrt(leaf.shape[1])).astype(np.float32)

    return map_tree(drawn, random_weights(config))


@pytest.fixture(scope="session")
def vocabulary():
    return Vocabulary.learn(TEXTS * 60, size=420, languages=("fr", "de"))


@pytest.fixture(scope="session")
def config(vocabulary):
    return TranslationConfig(
        vocabulary=vocabulary.size, width=32, heads=4, inner=48, encoder_layers=2,
        decoder_layers=2, guided=((1, 0),),
    )  # fmt: skip


@pytest.fixture(scope="session")
def weights(config, vocabulary):
    """The end is as near to the usual hidden state as makes some hypotheses end and others not."""
    made = strong_weights(config)
    made["embedding"] = made["embedding"].copy()
    rng = np.random.default_rng(1)
    source, target = rng.integers(0, config.vocabulary, (2, 16, 12))
    hidden = decode(made, config, target, encode(made, config, source))
    usual = hidden.mean(axis=(0, 1))
    made["embedding"][vocabulary.end] = 2.4 * usual / np.sum(usual * usual)
    return made


@pytest.fixture(scope="session")
def translator(config, vocabulary, weights):
    return Translator(config, vocabulary, weights)


@pytest.fixture(scope="session")
def pieces(translator):
    return translator.pieces


@pytest.fixture
def sources(config, vocabulary, rng):
    """Sentences in pieces, of many lengths, three of one."""
    lengths = (1, 2, 9, 4, 4, 4, 17, 1, 6, 30)
    low = vocabulary.special
    return [
        [*rng.integers(low, config.vocabulary, n - 1).tolist(), vocabulary.end] for n in lengths
    ]


@pytest.fixture
def toy():
    """Pieces of a search without a model: 0 ends, 1 pads, 2 is a tag, 3 and 4 slots, 5 a space."""
    return SimpleNamespace(
        pieces=Pieces(end=0, pad=1, special=5, slots=(3, 4), blank=frozenset([5])), size=9
    )


@pytest.fixture
def wandering():
    """a leads to b, b to a, and both now and then to the end."""
    return {2: row(a=3, b=2.5, c=2), 6: row(b=3, end=2.9), 7: row(a=3, end=1), 8: row(end=4, c=1)}
