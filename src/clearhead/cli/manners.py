"""How every command ends: one clear line and a status, whatever went wrong."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence

import click

from clearhead.cli.products import wide_products
from clearhead.errors import ClearheadError, TrainingError
from clearhead.view.characters import printable

__all__ = ["run", "say", "small_products", "write"]

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130


def run(arguments: Sequence[str]) -> int:
    """Runs ``clearhead`` with these arguments.

    Returns:
        0; 1 where the disk, a permission or the machine failed; 2 where the use or the input was
        wrong; 130 after Ctrl-C. A reader who has seen enough (``| head``) is no failure.
    """
    from clearhead.cli.commands import clearhead

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started this process
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # never die of a character
    try:
        # Not clearhead.main(), which has manners of its own for closed pipes and Ctrl-C.
        with clearhead.make_context("clearhead", list(arguments)) as context:
            status = clearhead.invoke(context)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.exceptions.Exit as finished:
        sys.stdout.flush()
        return finished.exit_code
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx is not None else "clearhead"
        told = error.format_message().rstrip(".") + _behind_dashes(error)
        return _fail(f"{told}; see {where} --help", WRONG_USE, where)
    except click.ClickException as error:
        return _fail(error.format_message(), FAILED)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except TrainingError as error:
        return _fail(str(error), FAILED)
    except ClearheadError as error:
        return _fail(str(error), WRONG_USE)
    except OSError as error:
        _forget(sys.stdout)
        if error.errno in (errno.EPIPE, errno.ESHUTDOWN):
            return 0
        return _fail(_of_system(error), FAILED)
    except MemoryError:
        return _fail("the memory of this machine is not enough", FAILED)


def say(text: str) -> None:
    """A remark on stderr, in one line that moves no cursor, whatever file its words are from."""
    _tell("clearhead", text)


def write(text: str) -> None:
    """Writes to stdout as UTF-8, whatever the locale says, with line ends as they are."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # a stream of the caller's own
        sys.stdout.write(text)
    else:
        buffer.write(text.encode("utf-8"))
        buffer.flush()


def small_products() -> None:
    """Lets NumPy multiply on one thread, as wide as it can; before NumPy is imported.

    The matrices of a few sentences are small: a second thread gains little there, and where another
    process takes its core, the two wait for each other ten times as long as they work. Who has
    OPENBLAS_NUM_THREADS (or MKL_NUM_THREADS) set is obeyed.
    """
    for library in ("OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    wide_products()


def _behind_dashes(error: click.UsageError) -> str:
    """How a sentence that was taken for an option is said to be one."""
    command = error.ctx.command if error.ctx is not None else None
    if not isinstance(error, click.NoSuchOption) or command is None:
        return ""
    takes = any(each.name == "sentences" for each in command.params)
    return '; a sentence that begins with a dash stands behind --, as in -- "-5 degrees"' * takes


def _fail(text: str, status: int, command: str = "clearhead") -> int:
    _tell(command, text)
    return status


def _tell(command: str, text: str) -> None:
    try:
        print(f"{command}: {printable(' '.join(text.split()))}", file=sys.stderr)
    except OSError:  # nobody is left to be told
        _forget(sys.stderr)


def _of_system(error: OSError) -> str:
    told = error.strerror or str(error)
    return f"{error.filename}: {told}" if error.filename else told


def _forget(stream: object) -> None:
    """Points a stream that cannot be written at nothing, so that its last flush is silent."""
    try:
        descriptor = stream.fileno()  # type: ignore[attr-defined]
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, descriptor)
        os.close(nothing)
    except (OSError, ValueError, AttributeError):
        return
