import pytest

from clearhead.cli.commands import COMMANDS


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_without_a_sentence_the_commands_are_listed(command, arguments):
    found = command(*arguments)
    assert found.status == 0
    for name, what in COMMANDS.items():
        assert f"  {name} " in found.out
        assert what in found.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(command, name):
    found = command(name, "--help")
    assert found.status == 0
    assert "Example" in found.out
    assert f"clearhead {name}" in found.out


def test_the_version_is_told(command):
    assert command("--version").out.startswith("clearhead, version 0.")


def test_a_first_word_that_is_no_command_is_the_sentence(command, folder):
    found = command("The cat sat.", "--model", folder, "--json")
    assert found.status == 0
    assert '"sentence": "The cat sat."' in found.out
    assert found.out == command("look", "The cat sat.", "--model", folder, "--json").out


@pytest.mark.parametrize(("word", "meant"), [
    ("translat", "translate"), ("lok", "look"), ("stpes", "steps"), ("evalute", "evaluate"),
])  # fmt: skip
@pytest.mark.parametrize("more", [[], ["The cat."], ["--json"]], ids=str)
def test_a_slip_in_the_name_of_a_command_is_no_sentence(command, word, meant, more):
    found = command(word, *more)
    assert (found.status, found.out) == (2, "")
    assert f"found no command '{word}'; did you mean {meant}?" in found.err
    assert f"clearhead look {word}" in found.err


@pytest.mark.parametrize("word", ["hello", "cat", "Look", "look!", "Train.", "Übersetze"])
def test_a_word_alone_that_is_no_slip_is_a_sentence(command, folder, word):
    found = command(word, "--model", folder, "--json")
    assert found.status == 0
    assert f'"sentence": "{word}"' in found.out


def test_a_slip_can_still_be_meant_as_a_sentence(command, folder):
    assert '"sentence": "lok"' in command("look", "lok", "--model", folder, "--json").out


def test_options_may_come_before_the_sentence(command, folder):
    assert command("--model", folder, "--to", "de", "The cat.").status == 0


def test_a_sentence_that_is_called_as_a_command_or_begins_with_a_dash(command, folder):
    assert '"tokens": ["train"]' in command("look", "train", "--json", "--model", folder).out
    found = command("--model", folder, "--json", "--", "-5 degrees")
    assert '"sentence": "-5 degrees"' in found.out
