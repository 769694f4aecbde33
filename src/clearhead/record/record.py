"""What a model saw in a sentence: words, and who looks at whom, by layer and head.

A record holds plain data and no model, so that a view can draw it anywhere.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearhead.errors import ArgumentError, KindError
from clearhead.record.choice import Choice
from clearhead.record.seen import Seen

__all__ = ["Record"]


@dataclass(frozen=True, eq=False, repr=False)
class Record(Seen):
    """What was seen in a sentence, with the ways to keep it and to show it.

    Attributes are those of :class:`Seen`.

    Example:
        >>> import numpy as np
        >>> from clearhead.core.observation import Observation
        >>> from clearhead.record.sight import Sight
        >>> from clearhead.record.words import Piece, Words
        >>> eye = Observation(visible=np.ones((1, 2), bool), weights=np.eye(2)[None, ::-1])
        >>> said = Words("Hello world", (Piece("Hello", (0, 5)), Piece(" world", (5, 11))))
        >>> record = Record(Sight("encoder", said, said, (eye,)))
        >>> record
        Record('Hello world', 2 words, 1 layer of 1 head)
        >>> record.links("Hello")[0]["to"]
        'world'
    """

    def to_dict(self, choice: Choice | None = None) -> dict[str, Any]:
        """The record as JSON has it; ``choice`` narrows ``links`` and ``cross``."""
        choice = choice or Choice()
        found: dict[str, Any] = {
            "sentence": self.sentence,
            "translation": self.translation,
            "language": self.language,
            "tokens": list(self.words),
            "layers": self.layers,
            "heads": self.heads,
            "guided": [list(place) for place in self.guided],
            "links": choice.links(self.encoder),
        }
        if self.cross is not None:
            found["cross"] = choice.links(self.cross)
        return found

    def to_json(self, choice: Choice | None = None) -> str:
        """:meth:`to_dict` as text, each entry and each link on a line of its own."""
        return "{\n" + ",\n".join(_entries(self.to_dict(choice))) + "\n}\n"

    def save(self, path: str | Path) -> None:
        """Writes the record to a file; the ending says how. So far there is ``.json``.

        Raises:
            ArgumentError: another ending.
            KindError: what is no path.
            OSError: the file cannot be written.
        """
        if not isinstance(path, str | os.PathLike):
            raise KindError(f"path: found {type(path).__name__}; wanted text or a pathlib.Path")
        path = Path(path)
        if path.suffix.lower() != ".json":
            raise ArgumentError(
                f"path: found {path.name!r}; wanted a name that ends in .json, the one format "
                f"that can be written so far: record.save({path.stem + '.json'!r})"
            )
        path.write_text(self.to_json(), encoding="utf-8")

    def show(
        self, word: str | int | None = None, layer: int | None = None, head: int | None = None
    ) -> None:
        """Prints where each word looks, as ``clearhead "sentence"`` does."""
        # The view stands behind this stage: the one import that runs the other way.
        from clearhead.view.terminal import show

        show(self, Choice(None if word is None else (word,), layer, head))

    def __repr__(self) -> str:
        size = f"{_many(self.layers, 'layer')} of {_many(self.heads, 'head')}"
        return f"Record({_short(self.sentence)!r}, {_many(len(self.words), 'word')}, {size})"


def _entries(held: dict[str, Any]) -> list[str]:
    lines = []
    for name, value in held.items():
        if name in ("links", "cross") and value:
            inner = ",\n".join("    " + json.dumps(link, ensure_ascii=False) for link in value)
            lines.append(f'  "{name}": [\n{inner}\n  ]')
        else:
            lines.append(f'  "{name}": {json.dumps(value, ensure_ascii=False)}')
    return lines


def _many(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
