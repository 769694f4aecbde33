"""Marked alignments in two forms."""

import pytest

from clearhead.errors import ArgumentError
from clearhead.training.evaluation.gold import read_gold

TEXTS = [("the cat", "le chat ."), ("a b c", "d")]


def written(tmp_path, text):
    (tmp_path / "gold").write_text(text)
    return tmp_path / "gold"


@pytest.mark.parametrize(
    "text",
    ["0-0 1-1 1?2\n2-0\n", "0-0 1-1 1p2\n2-0\n", "1 1 1 S\n0001 2 2\n1 2 3 P\n2 3 1 S 0.5\n"],
)
def test_both_forms_say_the_same(tmp_path, text):
    first, second = read_gold(written(tmp_path, text), TEXTS)
    assert first.sure == {(0, 0), (1, 1)}
    assert first.possible == {(0, 0), (1, 1), (1, 2)}
    assert (second.sure, second.possible) == ({(2, 0)}, {(2, 0)})


def test_a_pair_may_have_no_links(tmp_path):
    first, second = read_gold(written(tmp_path, "\n0-0\n"), TEXTS)
    assert (first.sure, second.sure) == (frozenset(), {(0, 0)})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-0\n", "has 1 lines; wanted one for each pair of sentences, 2"),
        ("0-0\n1:2\n", "line 2: found '1:2'; wanted links as 0-0"),
        ("0-3\n\n", "pair 1: found a link of word 0 to word 3, .* have 2 and 3 words"),
        ("1 1 1 S\n3 1 1 S\n", "line 2: found '3 1 1 S'; wanted a sentence from 1 to 2"),
        ("1 1 1 S\n1 0 1 S\n", "pair 1: found a link of word -1 to word 0"),
    ],
)
def test_a_line_that_cannot_be_meant_is_named(tmp_path, text, message):
    with pytest.raises(ArgumentError, match=message):
        read_gold(written(tmp_path, text), TEXTS)
