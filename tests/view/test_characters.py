import pytest

from clearhead.view.characters import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc", "a b c"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x00\x07", "\\x00\\x07"),
        ("\u202eevil", "\\u202eevil"),
        ("a\u2028b", "a\\u2028b"),
        ("\U000e0041", "\\U000e0041"),
        ("👩\u200d💻 é [bold]", "👩\u200d💻 é [bold]"),
    ],
)
def test_text_from_outside_moves_no_cursor_and_hides_nothing(text, shown):
    assert printable(text) == shown
