"""How translations are printed."""

import json

from clearhead.cli.printing import as_line, as_object, as_rows
from clearhead.model.alternatives import Alternative
from clearhead.model.translated import Candidate, Translation

ENDED = Candidate("le chat", -1.25, -0.5, True, (7, 8))
CUT = Candidate("le\nchien", -2.0, -0.75, False, (7, 9))
BOTH = Translation("the cat", "le chat", (ENDED, CUT))
OTHER = Alternative("la", 0.25, "la chatte", -3.5, True)


def test_a_line_is_one_line():
    assert as_line("a\nb\r\nc") == "a b  c"


def test_rows_name_their_line_and_mark_what_did_not_end():
    assert as_rows(3, BOTH, [OTHER]) == (
        "3\t-1.2500\tle chat\n3\t-2.0000\tle chien\tunfinished\n3\t0.250000\tla\tla chatte\n"
    )
    assert as_rows(1, Translation("", "")) == ""


def test_an_object_holds_what_was_asked_for():
    held = json.loads(as_object(BOTH, "fr"))
    assert held == {
        "source": "the cat", "translation": "le chat", "language": "fr",
        "log_probability": -1.25, "finished": True, "notes": [],
    }  # fmt: skip
    held = json.loads(as_object(BOTH, "fr", with_candidates=True, others=[OTHER]))
    assert [each["finished"] for each in held["candidates"]] == [True, False]
    assert held["alternatives"] == [
        {
            "word": "la", "probability": 0.25, "translation": "la chatte",
            "log_probability": -3.5, "finished": True,
        }
    ]  # fmt: skip
    assert json.loads(as_object(Translation("", ""), "fr"))["log_probability"] is None
