"""Which links of a record are wanted: of some words, in one layer, in one head.

The one place that narrows links: JSON, the terminal and ``telling_links`` all ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clearhead.record.sight import Sight
from clearhead.record.words import Words

__all__ = ["Choice"]


@dataclass(frozen=True)
class Choice:
    """Links to keep; what is None does not narrow.

    Words are those of the sentence that was read. Within the sentence they are the words that look;
    in the links of the translation (``cross``) they are the words that are **looked at**, since
    there the translation looks. Layers and heads are counted in each part by itself, those of
    ``cross`` in the decoder; where it has no such place, none of its links are kept.

    Attributes:
        words: "it" (every one), "it:2" (the second), or indices from 0; one word may stand alone.
        layer, head: from 0.

    Example:
        >>> Choice("it", layer=3)
        Choice(words=('it',), layer=3, head=None)
    """

    words: Sequence[str | int] | None = None
    layer: int | None = None
    head: int | None = None

    def __post_init__(self) -> None:
        if self.words is not None:
            alone = isinstance(self.words, str) or not isinstance(self.words, Sequence)
            words = (self.words,) if alone else tuple(self.words)
            object.__setattr__(self, "words", words)

    def indices(self, sentence: Words) -> list[int] | None:
        """The chosen words of the sentence, each once, in the order asked for; None is all.

        Raises:
            ArgumentError: the sentence has no such word.
        """
        if self.words is None:
            return None
        return list(dict.fromkeys(i for word in self.words for i in sentence.find(word)))

    def links(self, sight: Sight) -> list[dict[str, Any]]:
        """The links of one part of a record that are chosen, as of :meth:`Sight.links`.

        Raises:
            ArgumentError: no such word; no such layer or head among those of the sentence itself.
        """
        crossed = sight.kind == "cross"
        if crossed and not self.is_in(sight):
            return []
        found = sight.links(layer=self.layer, head=self.head)
        chosen = self.indices(sight.keys if crossed else sight.queries)
        if chosen is None:
            return found
        end = "to_index" if crossed else "from_index"
        return [link for link in found if link[end] in set(chosen)]

    def is_in(self, sight: Sight) -> bool:
        """Whether that part of a record has the layer and the head."""
        counts = ((self.layer, len(sight.observations)), (self.head, sight.heads))
        return all(at is None or 0 <= at < count for at, count in counts)
