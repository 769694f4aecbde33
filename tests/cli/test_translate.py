"""Line in, line out, whatever stands in the lines."""

import json
import warnings

import pytest

from clearhead.model.translator import load_translator
from clearhead.record.words import Words


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


def test_the_n_best_are_rows_that_name_their_line(command, folder, translator):
    found = command("translate", "--n-best", 3, "--model", folder, stdin=b"It ran.\n\nThe cat.\n")
    rows = [line.split("\t") for line in found.out.splitlines()]
    assert [row[0] for row in rows] == ["1"] * 3 + ["3"] * 3
    wanted = translator.translate("It ran.", n_best=3)
    assert [row[2] for row in rows[:3]] == [" ".join(c.text.split()) for c in wanted]
    for row, candidate in zip(rows, wanted, strict=False):
        assert float(row[1]) == pytest.approx(candidate.log_probability, abs=1e-3)
        assert (row[3:] == ["unfinished"]) != candidate.finished


@pytest.mark.parametrize(
    ("option", "value", "name"),
    [
        ("--min-length", 12, "min_length"),
        ("--max-length", 2, "max_length"),
        ("--no-repeat", 1, "no_repeat"),
        ("--length-penalty", 0.5, "length_penalty"),
    ],
)
def test_every_option_of_the_search_reaches_it(command, folder, translator, option, value, name):
    found = command("translate", option, value, "--model", folder, "It ran.", "The cat sat.")
    wanted = translator.translate(["It ran.", "The cat sat."], **{name: value})
    assert found.out.splitlines() == [" ".join(text.split()) for text in wanted]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--n-best", 0), "'--n-best': 0 is not in the range"),
        (("--length-penalty", "x"), "'--length-penalty'"),
        (("--min-length", 9, "--max-length", 8), "min_length: found 9; wanted at most max_length"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(command, folder, options, said):
    found = command("translate", *options, "--model", folder, "It ran.")
    assert found.status == 2
    assert said in found.err
    assert found.err.count("\n") == 1


def test_alternatives_for_a_word_of_the_translation(command, folder, translator):
    text = translator.translate("It ran.")
    word = Words(text, ()).names[0]
    found = command("translate", "--alternatives", word, "--model", folder, "It ran.")
    candidate, *rows = (line.split("\t") for line in found.out.splitlines())
    assert candidate[2] == text
    wanted = translator.alternatives("It ran.", text, 0)
    assert [row[2] for row in rows] == [other.word for other in wanted]
    assert [float(row[1]) for row in rows] == pytest.approx(
        [other.probability for other in wanted], abs=1e-5
    )
    found = command("translate", "--json", "--alternatives", word, "--model", folder, "It ran.", "")
    first, blank = (json.loads(line) for line in found.out.splitlines())
    assert [each["word"] for each in first["alternatives"]] == [other.word for other in wanted]
    assert blank["alternatives"] == []


def test_a_translation_without_the_word_says_so_and_the_lines_go_on(command, folder):
    found = command(
        "translate", "--alternatives", "nowhere", "--model", folder, stdin=b"It ran.\nIt.\n"
    )
    assert [line.split("\t")[0] for line in found.out.splitlines()] == ["1", "2"]
    assert "line 2: --alternatives: found 'nowhere'; the translation has" in found.err
    assert found.status == 2  # no line has it


def test_the_word_of_some_line_or_of_no_lines_is_no_wrong_use(command, folder, translator):
    word = Words(translator.translate("It ran."), ()).names[0]
    asked = ("translate", "--alternatives", word, "--model", folder)
    assert command(*asked, stdin=b"\nIt ran.\n\n").status == 0
    assert command(*asked, stdin=b"\n\n").status == 0  # nothing was translated


def test_a_dash_stands_for_standard_input(command, folder):
    found = command("translate", "-", "--model", folder, stdin=b"It ran.\n\n")
    assert found.status == 0
    assert found.out == command("translate", "--model", folder, stdin=b"It ran.\n\n").out
