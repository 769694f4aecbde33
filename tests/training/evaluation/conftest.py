"""A translator whose attention is known: every head looks everywhere alike, but for one."""

from __future__ import annotations

import pytest

from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import random_weights
from clearhead.model.translator import Translator
from clearhead.model.vocabulary import Vocabulary

TEXTS = [
    "The cat saw the dog, and it was big because it can.",
    "Le chat voit le chien car il est grand, et elle est grande.",
]


@pytest.fixture(scope="session")
def translator():
    """One encoder layer of two heads, two decoder layers; no query knows what it wants."""
    words = Vocabulary.learn(TEXTS * 200, size=330, languages=("fr", "de"))
    config = TranslationConfig(
        vocabulary=words.size, width=16, heads=2, encoder_layers=1, decoder_layers=2,
        guided=((0, 1),),
    )  # fmt: skip
    weights = random_weights(config)
    weights["encoder"][0]["attention"]["w_q"][:] = 0
    for layer in weights["decoder"]:
        layer["cross_attention"]["w_q"][:] = 0
    return Translator(config, words, weights)
