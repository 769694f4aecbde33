"""How a command ends: its status, and one line that says why."""

import os
import pty
import signal
import subprocess
import sys

import pytest
from safetensors.numpy import load_file, save_file

from clearhead.cli import manners

SENTENCE = "The animal didn't cross the street because it was too tired."


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([""], "the sentence is empty"),
        ([" \t"], "the sentence is empty"),
        (["word " * 10_000], "at most 512 pieces can be looked into"),
        (["half \udcff"], "lone surrogate at character 5"),
        (["Two", "sentences"], 'put the sentence in quotation marks: "Two sentences"'),
        (["It ran.", "--word", "dog"], "found 'dog'; the sentence has It ran ."),
        (["It ran.", "--layer", "9"], "layer: found 9; wanted 0 … 1"),
        (["It ran.", "--head", "-1"], "head: found -1; wanted 0 … 1"),
        (["It ran.", "--to", "es"], "to: found 'es'; wanted one of fr, de"),
        (["It ran.", "--what"], "see clearhead look --help"),
        (["translate", "-5 degrees"], "a sentence that begins with a dash stands behind --, as in"),
        (["It ran.", "--to"], "see clearhead"),
        (["It ran.", "--layer", "two"], "'two' is not a valid integer"),
        (["translate", "--beam", "0", "It ran."], "0 is not in the range"),
        (["translate", "--to", "es", "It ran."], "'es'; this model translates to fr or de"),
        (["steps", "It ran.", "--word", "dog"], "the sentence has It ran ."),
        (["steps", ""], "the sentence is empty"),
        (["machine", "now"], "see clearhead machine --help"),
    ],
)
def test_wrong_use_is_one_clear_line_and_status_2(command, folder, arguments, told):
    where = [] if arguments[0] in ("machine",) else ["--model", folder]
    found = command(*arguments[:1], *where, *arguments[1:])
    assert found.status == 2
    assert found.out == ""
    assert found.err.count("\n") == 1
    assert found.err.startswith("clearhead")
    assert told in found.err


@pytest.mark.parametrize("command_name", ["look", "steps", "translate"])
def test_a_folder_that_holds_no_model_is_named(command, tmp_path, command_name):
    found = command(command_name, "It ran.", "--model", tmp_path)
    assert (found.status, found.out) == (2, "")
    assert str(tmp_path) in found.err
    missing = command(command_name, "It ran.", "--model", tmp_path / "none")
    assert (missing.status, missing.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("keep", [0, 7, 2_000])
def test_damaged_weights_are_refused(command, folder, tmp_path, keep):
    for file in folder.iterdir():
        held = file.read_bytes()
        cut = file.name == "model.safetensors"
        (tmp_path / file.name).write_bytes(held[:keep] if cut else held)
    found = command("look", "It ran.", "--model", tmp_path)
    assert (found.status, found.out) == (2, "")
    assert found.err.count("\n") == 1
    assert "model.safetensors" in found.err


def test_an_argument_that_is_not_utf_8(process, folder):
    found = process(b"caf\xe9", "--model", str(folder))
    assert found.returncode == 2
    assert b"lone surrogate" in found.stderr


def test_a_full_disk_is_status_1(process, folder):
    with open("/dev/full", "w") as full:
        found = process(SENTENCE, "--model", str(folder), stdout=full, capture_output=False,
                        stderr=subprocess.PIPE)  # fmt: skip
    assert found.returncode == 1
    assert found.stderr == b"clearhead: No space left on device\n"


@pytest.mark.parametrize(
    "arguments", [["look", SENTENCE], ["look", "--json", SENTENCE], ["--help"]]
)
def test_a_reader_who_has_seen_enough_is_no_failure(folder, arguments):
    model = [] if arguments == ["--help"] else ["--model", str(folder)]
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        found = subprocess.run(
            [sys.executable, "-m", "clearhead", *arguments, *model],
            stdout=closed, stderr=subprocess.PIPE, timeout=60,
        )  # fmt: skip
    assert (found.returncode, found.stderr) == (0, b"")


def test_ctrl_c_ends_quietly(folder):
    running = subprocess.Popen(
        [sys.executable, "-m", "clearhead", "translate", "--model", str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with running:
        running.stdin.write(b"It ran.\n" * 256)
        running.stdin.flush()
        assert running.stdout.readline()  # it is at work
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, b"")


def on_a_terminal(arguments, **environment):
    """What the command writes to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    held = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", **environment}
    with subprocess.Popen(
        [sys.executable, "-m", "clearhead", *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs, env=held,
    ):  # fmt: skip
        os.close(theirs)
        found = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            found += part
    os.close(ours)
    return found.decode()


@pytest.mark.parametrize("arguments", [["look", SENTENCE], ["steps", SENTENCE]])
def test_colours_are_for_terminals_and_no_color_is_respected(folder, process, arguments):
    arguments = [*arguments, "--model", str(folder)]
    assert "\x1b[38;5;29m" in on_a_terminal(arguments)
    assert "\x1b[38" not in on_a_terminal(arguments, NO_COLOR="1")
    assert b"\x1b" not in process(*arguments).stdout


def test_a_locale_that_knows_ascii_alone(process, folder):
    found = process("Łódź 🙂 it", "--model", str(folder), env={"PYTHONIOENCODING": "ascii"})
    assert found.returncode == 0
    assert b"\\u0141" in found.stdout
    raw = process("Łódź it", "--json", "--model", str(folder), env={"PYTHONIOENCODING": "ascii"})
    assert "Łódź" in raw.stdout.decode("utf-8")


def test_closed_streams_are_no_accident(folder):
    line = f'"{sys.executable}" -m clearhead translate --model "{folder}" <&-; echo $?'
    found = subprocess.run(["sh", "-c", line], capture_output=True, timeout=60)
    assert (found.stdout, found.stderr) == (b"0\n", b"")
    line = f'"{sys.executable}" -m clearhead "It ran." --model "{folder}" >&-; echo $? >&2'
    found = subprocess.run(["sh", "-c", line], capture_output=True, timeout=60)
    assert found.stderr == b"0\n"


@pytest.mark.parametrize("arguments", ['""', "translate --model /none It.", "translate"])
def test_a_closed_stderr_sends_no_message_to_stdout(folder, arguments):
    model = f'--model "{folder}"' if arguments == "translate" else ""
    line = f'printf "%5000s\\n" | tr " " "x" | "{sys.executable}" -m clearhead {arguments} {model}'
    with_stderr = subprocess.run(["sh", "-c", line], capture_output=True, timeout=60)
    assert with_stderr.stderr.startswith(b"clearhead")
    without = subprocess.run(["sh", "-c", f"{line} 2>&-"], capture_output=True, timeout=60)
    assert (without.returncode, without.stdout) == (with_stderr.returncode, with_stderr.stdout)


def test_a_stderr_that_cannot_be_written_changes_no_status(process, tmp_path):
    with open("/dev/full", "w") as full:
        found = process("It ran.", "--model", str(tmp_path), stdout=subprocess.PIPE,
                        capture_output=False, stderr=full)  # fmt: skip
    assert (found.returncode, found.stdout) == (2, b"")


def test_names_from_a_file_send_nothing_to_the_terminal(command, folder, tmp_path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    held = load_file(folder / "model.safetensors")
    save_file({**held, "\x1b]0;owned\x07": held["embedding"]}, tmp_path / "model.safetensors")
    found = command("look", "It ran.", "--model", tmp_path)
    assert found.status == 2
    assert "\\x1b]0;owned\\x07 is not of this model" in found.err
    assert "\x1b" not in found.err
    manners.say("a \x1b[2J b")
    found = command("machine", "\x1b[2J")
    assert "\x1b" not in found.err


@pytest.mark.parametrize("command_name", ["look", "translate"])
@pytest.mark.parametrize("name", ["config.json", "vocabulary.json", "model.safetensors"])
def test_a_pipe_in_a_models_folder_is_not_waited_for(process, folder, tmp_path, name, command_name):
    for file in folder.iterdir():
        if file.name != name:
            (tmp_path / file.name).write_bytes(file.read_bytes())
    os.mkfifo(tmp_path / name)
    found = process(command_name, "It ran.", "--model", str(tmp_path))
    assert (found.returncode, found.stdout) == (2, b"")
    assert f"{name} is no regular file; wanted one that can be read".encode() in found.stderr


def test_looking_and_translating_need_no_torch(process, folder):
    code = (
        "import sys; from clearhead.cli.manners import run;"
        f"run(['It ran.', '--model', {str(folder)!r}]); run(['translate', 'It.', '--model', "
        f"{str(folder)!r}]); print(sorted({{'torch', 'transformers'}} & {{*sys.modules}}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert found.stdout.endswith(b"[]\n"), found.stderr


def test_statuses_have_names():
    assert (manners.FAILED, manners.WRONG_USE, manners.INTERRUPTED) == (1, 2, 130)
