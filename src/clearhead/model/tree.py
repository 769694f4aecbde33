"""Weights as a tree of plain arrays, and as flat names for a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["flatten", "map_tree", "nest"]


def flatten(tree: Any, prefix: str = "") -> dict[str, Any]:
    """A tree of dicts and lists as flat names, joined by dots.

    Example:
        >>> flatten({"encoder": [{"w": 1}, {"w": 2}]})
        {'encoder.0.w': 1, 'encoder.1.w': 2}
    """
    if isinstance(tree, Mapping):
        entries = list(tree.items())
    elif isinstance(tree, list):
        entries = [(str(i), item) for i, item in enumerate(tree)]
    else:
        return {prefix.removesuffix("."): tree}
    return {k: v for name, item in entries for k, v in flatten(item, f"{prefix}{name}.").items()}


def nest(flat: Mapping[str, Any]) -> Any:
    """The tree of flat names; entries named 0, 1, 2 … become a list.

    Example:
        >>> nest({"encoder.0.w": 1, "encoder.1.w": 2})
        {'encoder': [{'w': 1}, {'w': 2}]}
    """
    tree: dict[str, Any] = {}
    for name, leaf in flat.items():
        *path, last = name.split(".")
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = leaf
    return _lists(tree)


def map_tree(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same tree with ``function`` of every leaf."""
    if isinstance(tree, Mapping):
        return {name: map_tree(function, item) for name, item in tree.items()}
    if isinstance(tree, list):
        return [map_tree(function, item) for item in tree]
    return function(tree)


def _lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    held = {name: _lists(item) for name, item in tree.items()}
    if held and all(name.isdecimal() for name in held):
        return [held[str(i)] for i in range(len(held))]
    return held
