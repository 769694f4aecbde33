"""Tables between the marks of a page."""

import re
from pathlib import Path

import pytest

from clearhead.errors import ArgumentError
from clearhead.training.evaluation.page import markdown, rewrite
from clearhead.training.evaluation.sheets import Sheet

PAGE = """# Page

<!-- scores -->
old
<!-- /scores -->

<!-- scores other -->
<!-- /scores other -->
End.
"""


@pytest.fixture
def page(tmp_path):
    (tmp_path / "page.md").write_text(PAGE)
    return tmp_path / "page.md"


def test_what_stands_between_the_marks_is_replaced_and_nothing_else(page):
    rewrite(str(page), "new\\1")
    assert page.read_text() == PAGE.replace("old", "new\\1")
    rewrite(str(page), "")
    rewrite(str(page), "old")
    assert page.read_text() == PAGE


def test_a_place_may_have_a_name(page):
    rewrite(f"{page}#other", "new")
    assert page.read_text() == PAGE.replace("<!-- scores other -->", "<!-- scores other -->\nnew")


def test_looking_whether_it_can_be_done_changes_nothing(page):
    rewrite(str(page), "new", write=False)
    assert page.read_text() == PAGE


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("page.md#none", "has 0 places for scores; wanted one, as the lines <!-- scores none -->"),
        ("twice.md", "has 2 places"),
        ("missing.md", "cannot be read"),
    ],
)
def test_a_page_without_exactly_one_place_is_refused(page, name, message):
    (page.parent / "twice.md").write_text(PAGE + PAGE)
    with pytest.raises(ArgumentError, match=message):
        rewrite(f"{page.parent}/{name}", "new")


def test_tables_follow_each_other_with_their_notes():
    sheet = Sheet("A", ("x", "y"), (("one", "1", "2"),), ("a note", "another"))
    assert markdown([sheet, Sheet("B", ("z",), (("two", "3"),))]) == (
        "| A | x | y |\n|---|---|---|\n| one | 1 | 2 |\n\na note; another.\n\n"
        "| B | z |\n|---|---|\n| two | 3 |"
    )


def test_the_card_quotes_the_page():
    root = Path(__file__).parents[3]
    pages = root / "docs/translation-scores.md", root / "src/clearhead/data/en-fr-de/README.md"
    held = [
        re.findall(r"^<!-- scores -->$(.*?)^<!-- /scores -->$", page.read_text(), re.M | re.S)
        for page in pages
    ]
    assert held[0] == held[1]
    assert len(held[0]) == 1
