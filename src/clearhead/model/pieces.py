"""Learning the pieces of a vocabulary: byte-level pairs, merged within words alone."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

__all__ = ["learn_pieces"]

# Contractions keep their apostrophe ("didn 't", but "l' animal"); digits and signs stand alone.
_PIECES = (
    r"['’](?:t|s|re|ve|m|ll|d)(?!\p{L})"
    r"| ?[\p{L}\p{M}]+(?:['’](?!(?:t|s|re|ve|m|ll|d)(?!\p{L})))?"
    r"| ?\p{N}| ?[^\s\p{L}\p{M}\p{N}]|\s"
)


def learn_pieces(texts: Sequence[str], size: int, special: Sequence[str]) -> Tokenizer:
    """A byte-level BPE tokenizer (Sennrich et al. 2016).

    Args:
        texts: sentences of all languages.
        size: pieces in all, at most.
        special: the first of them, which no text can name.

    Example:
        >>> found = learn_pieces(["the cat sat", "the mat"] * 50, 300, ["<pad>"])
        >>> found.encode(" the <pad>").tokens[:3]
        ['Ġthe', 'Ġ', '<']
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((" " + text for text in texts), trainer)
    return _without_added(tokenizer)


def _without_added(tokenizer: Tokenizer) -> Tokenizer:
    """The same pieces, none of which raw text can name: "</s>" typed by a user is five letters."""
    held = json.loads(tokenizer.to_str())
    held["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(held))
