"""Line in, line out, whatever stands in the lines."""

import json
import warnings

import pytest

from clearhead.model.translator import load_translator


@pytest.fixture(scope="module")
def translator(folder):
    return load_translator(folder)


def test_every_line_gives_a_line(command, folder, translator):
    found = command("translate", "--model", folder, stdin=b"It ran.\n\nThe cat.\n")
    assert (found.status, found.err) == (0, "")
    lines = found.out.split("\n")
    assert lines == [translator.translate("It ran."), "", translator.translate("The cat."), ""]


@pytest.mark.parametrize("blank", [b"\n", b" \n", b"\t\n", "\u2028\n".encode(), b"\r\n"])
def test_a_blank_line_stays_a_line(command, folder, blank):
    found = command("translate", "--model", folder, stdin=b"It.\n" + blank + b"It.\n")
    first, second, third, rest = found.out.split("\n")
    assert second.strip() == rest == ""
    assert first == third != ""


@pytest.mark.parametrize(
    "line", ["alpha\u2028beta", "a\x0bb\x85c", "a\x0cb", "a\x00b", "\x00", "a\rb", "\u202e", "🙂"]
)
def test_only_a_line_feed_ends_a_line(command, folder, line):
    found = command("translate", "--model", folder, stdin=f"{line}\nIt.\n".encode())
    assert found.status == 0
    assert found.out.count("\n") == 2


def test_line_ends_are_kept(command, folder):
    found = command("translate", "--model", folder, stdin=b"It.\r\nIt.\nIt.")
    first, second, third, rest = found.out.split("\n")
    assert first == second + "\r" == third + "\r"
    assert rest == ""


def test_nothing_in_nothing_out(command, folder):
    found = command("translate", "--model", folder)
    assert (found.status, found.out, found.err) == (0, "", "")


def test_sentences_may_be_arguments(command, folder, translator):
    found = command(
        "translate", "--to", "de", "--beam", 1, "--model", folder, "It ran.", "The cat."
    )
    wanted = [translator.translate(text, "de", beam=1) for text in ("It ran.", "The cat.")]
    assert found.out.splitlines() == wanted


def test_many_lines_come_in_order(command, folder, translator):
    lines = [f"The cat sat on {i}." for i in range(600)]
    found = command("translate", "--beam", 1, "--model", folder, stdin="\n".join(lines).encode())
    out = found.out.splitlines()
    assert len(out) == 600
    for i in (0, 255, 256, 511, 512, 599):
        assert out[i] == translator.translate(lines[i], beam=1)


def test_json_is_an_object_a_line(command, folder, translator):
    found = command("translate", "--json", "--model", folder, stdin="It ran.\n\nŁódź\n".encode())
    held = [json.loads(line) for line in found.out.splitlines()]
    assert [each["source"] for each in held] == ["It ran.", "", "Łódź"]
    assert held[0]["translation"] == translator.translate("It ran.")
    assert held[0]["log_probability"] == pytest.approx(
        translator.translations(["It ran."])[0].candidates[0].log_probability, abs=1e-4
    )
    assert held[1]["translation"] == ""
    assert held[1]["log_probability"] is None


def test_a_line_that_is_too_long_is_translated_in_parts_and_stderr_says_so(command, folder):
    long = "The cat sat. " * 300
    found = command(
        "translate", "--beam", 1, "--model", folder, stdin=f"It.\n{long}\nIt.\n".encode()
    )
    assert found.status == 0
    assert found.out.count("\n") == 3
    assert "clearhead: line 2: " in found.err
    assert "parts" in found.err


def test_lines_before_one_that_cannot_be_read_are_translated(command, folder):
    found = command("translate", "--model", folder, stdin=b"It ran.\ncaf\xe9\nIt.\n")
    assert found.status == 2
    assert found.out.count("\n") == 1
    assert "line 2 is not UTF-8" in found.err


def test_no_warning_escapes_and_no_progress_off_a_terminal(command, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = command("translate", "--beam", 1, "--model", folder, stdin=b"'" * 5_000 + b"\n")
    assert found.status == 0
    assert "\r" not in found.err
    assert found.out.count("\n") == 1
