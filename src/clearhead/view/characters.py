"""Characters that are safe to print, for views and messages alike; loads nothing else."""

from __future__ import annotations

import unicodedata

__all__ = ["printable"]

_JOINING = frozenset("\u200c\u200d")  # within emoji and Arabic or Indic words


def printable(text: str) -> str:
    """Text that moves no cursor, turns no line round and hides nothing: odd characters by code.

    Example:
        >>> printable("a\\tb\\x1b[31m")
        'a b\\\\x1b[31m'
    """
    return "".join(map(_printable, text))


def _printable(character: str) -> str:
    if character in "\t\n":
        return " "
    category = unicodedata.category(character)
    if category in ("Zl", "Zp") or (category[0] == "C" and character not in _JOINING):
        code = ord(character)
        return (
            f"\\x{code:02x}"
            if code < 256
            else f"\\u{code:04x}"
            if code < 65536
            else f"\\U{code:08x}"
        )
    return character
