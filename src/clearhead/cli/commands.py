"""The list of commands, and the rule that a first word that is none of them is a sentence."""

from __future__ import annotations

import re
from difflib import get_close_matches
from importlib import import_module

import click

import clearhead as package

__all__ = ["COMMANDS", "Commands", "clearhead"]

COMMANDS = {
    "look": "Translate a sentence and show which word looks at which.",
    "steps": "Show every computing step of one head, with real numbers.",
    "translate": "Translate lines into French or German.",
    "train": "Train a translation model.",
    "evaluate": "Score a model: BLEU, chrF, pronouns.",
    "machine": "Say what this machine and this build can do.",
}
"""Every command and what it does; its code is in the file of its name."""

_NEAR = 0.8  # of all letters those in place: one letter in five may be another


class Commands(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the list."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, from the file of that name."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"clearhead.cli.{cmd_name}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list, without importing what it lists."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """``clearhead "a sentence"`` is ``clearhead look "a sentence"``.

        A single word, small letters alone, that is nearly a command is a slip and no sentence.
        """
        meant = _misspelt(args[0]) if args else None
        if meant is not None:
            raise click.UsageError(
                f"found no command {args[0]!r}; did you mean {meant}? "
                f"As a sentence: clearhead look {args[0]}",
                ctx,
            )
        if args and args[0] not in COMMANDS and args[0] not in ("--help", "-h", "--version"):
            args = ["look", *args]
        return super().parse_args(ctx, args)


def _misspelt(word: str) -> str | None:
    """The command that a word was probably meant to be; None for a command or another word."""
    if word in COMMANDS or not re.fullmatch("[a-z]+", word):
        return None
    return next(iter(get_close_matches(word, COMMANDS, 1, _NEAR)), None)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    subcommand_metavar='"SENTENCE" | COMMAND [ARGS]...',
    options_metavar="",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog='Example: clearhead "The animal didn\'t cross the street because it was too tired."',
)
@click.version_option(package.__version__, prog_name="clearhead")
@click.pass_context
def clearhead(ctx: click.Context) -> None:
    """Attention you can see through.

    Give a sentence in quotation marks: it is translated and looked into. Or give a command.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
