"""The command ``clearhead``: one file per sub-command, each loaded when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and ends the process with its status: 0, 1 (failed) or 2 (wrong use).

    Args:
        arguments: what stands behind ``clearhead``; None is what this process was given.
    """
    try:
        from clearhead.cli.manners import run

        status = run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
