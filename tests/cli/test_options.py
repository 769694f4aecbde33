import click
import pytest

from clearhead.cli.options import beam, input_lines
from clearhead.errors import TextError
from clearhead.model.hypotheses import WIDEST


def test_lines_end_at_a_line_feed_alone():
    text = "alpha\u2028beta\x0bgamma\x85delta\n".encode()
    assert list(input_lines([text])) == [("alpha\u2028beta\x0bgamma\x85delta", "\n")]


def test_a_carriage_return_belongs_to_the_end_only_before_a_line_feed():
    assert list(input_lines([b"a\r\n", b"\r\n", b"b\r"])) == [
        ("a", "\r\n"), ("", "\r\n"), ("b\r", "\n"),
    ]  # fmt: skip


def test_a_mark_of_the_byte_order_is_no_part_of_the_first_line():
    mark = "\ufeff".encode()
    assert list(input_lines([mark + b"It.\n", mark + b"It."])) == [
        ("It.", "\n"), ("\ufeffIt.", "\n"),
    ]  # fmt: skip
    assert list(input_lines([mark + b"\n"])) == [("", "\n")]
    assert list(input_lines([mark + mark])) == [("\ufeff", "\n")]
    assert list(input_lines([mark])) == []


def test_the_widest_beam_is_that_of_the_library():
    @click.command()
    @beam
    def command(beam):
        pass

    assert command.params[0].type.max == WIDEST


def test_a_line_that_is_not_utf_8_is_named_by_number_and_byte():
    lines = input_lines([b"fine\n", b"caf\xe9\n"])
    assert next(lines) == ("fine", "\n")
    with pytest.raises(TextError, match="line 2 is not UTF-8: byte 0xe9 at 3; convert the input"):
        next(lines)
