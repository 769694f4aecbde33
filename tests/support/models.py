"""Small models with random weights: quick, and as odd as any trained one."""

from __future__ import annotations

import numpy as np

from clearhead.model.config import TranslationConfig
from clearhead.model.fresh import random_weights
from clearhead.model.translator import Translator
from clearhead.model.tree import map_tree
from clearhead.model.vocabulary import Vocabulary

__all__ = ["small_translator"]

_TEXTS = [
    "The animal didn't cross the street because it was too tired.",
    "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "It is 2026, and the cat sat on the mat.",
]


def small_translator(seed: int = 0, guided: tuple[tuple[int, int], ...] = ((1, 0),)) -> Translator:
    """Two encoder layers of two heads, one decoder layer, some 330 pieces."""
    vocabulary = Vocabulary.learn(_TEXTS * 60, size=330, languages=("fr", "de"))
    config = TranslationConfig(
        vocabulary=vocabulary.size, width=16, heads=2, encoder_layers=2, decoder_layers=1,
        guided=guided,
    )  # fmt: skip
    rng = np.random.default_rng(seed)

    def noisy(leaf):
        return leaf + 0.3 * rng.standard_normal(leaf.shape).astype(np.float32)

    weights = map_tree(noisy, random_weights(config, seed))
    table = weights["embedding"]
    table[:, 0] = 3  # the same push to every piece, and a little more to the end: translations end
    table[vocabulary.end, 0] = 8.0
    return Translator(config, vocabulary, weights)
