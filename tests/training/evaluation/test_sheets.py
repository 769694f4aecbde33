"""Figures as tables."""

from clearhead.training.evaluation.sheets import label, sheets

ABOUT = {"where": {}, "sampled_from": None}
NOTHING = {
    "model": {"guided": [[3, 0]], "encoder_layers": 4, "decoder_layers": 1, "heads": 1},
    "translation": [], "pronouns": [], "heads": [], "chosen": [], "alignment": [],
}  # fmt: skip


def translation(to, bleu):
    return ABOUT | {
        "file": f"x/test.en-{to}.tsv.gz", "to": to, "bleu": bleu, "chrf": 60.0, "lines": 2000,
        "beam": 4, "bleu_signature": "b", "chrf_signature": "c",
    }  # fmt: skip


def contrast(to, **changes):
    return ABOUT | {
        "file": "pairs.tsv", "to": to, "sentences": 80, "right": 60, "pairs": 40, "pairs_right": 22,
        "chance": 0.5, "every": None, "by_pronoun": {"il": [9, 10]}, "with_links": None,
    } | changes  # fmt: skip


def test_what_was_not_measured_has_no_table():
    assert sheets(NOTHING) == []


def test_languages_stand_side_by_side():
    entries = [translation("fr", 50.04), translation("de", 40.0)]
    (sheet,) = sheets(NOTHING | {"translation": entries})
    assert sheet.columns == ("French", "German")
    assert sheet.rows == (("test", "50.0 / 60.0 (2,000 lines)", "40.0 / 60.0 (2,000 lines)"),)
    assert sheet.notes == ("beam 4", "BLEU|b", "chrF2|c")


def test_chance_stands_beside_pronouns():
    entries = [contrast("fr"), contrast("de", every=40)]
    (sheet,) = sheets(NOTHING | {"pronouns": entries})
    assert sheet.columns == ("French", "German", "by chance")
    assert sheet.rows == (
        ("pairs: sentences", "60 of 80 (75 %)", "60 of 80 (75 %)", "50 %"),
        ("pairs: both of a pair", "22 of 40 (55 %)", "22 of 40 (55 %)", "25 %"),
        ("pairs: above the third, too", "–", "40 of 80 (50 %)", "33 %"),
    )
    assert sheet.notes == ("pairs, French: “il” 9 of 10", "pairs, German: “il” 9 of 10")
    alone = contrast("fr", pairs=0, pairs_right=0)
    (sheet,) = sheets(NOTHING | {"pronouns": [alone]})
    assert [row[0] for row in sheet.rows] == ["pairs"]


def looked(file, kind, to, more, most):
    return ABOUT | {
        "file": file, "kind": kind, "to": to, "more": more, "most": most, "most_chance": 0.09,
        "sentences": 80, "rows": 80, "guided": [[3, 0]],
    }  # fmt: skip


def test_the_guided_head_and_the_chosen_ones_stand_over_chance():
    four = [[0.5, 0.25], [0.1, 0.7], [0.2, 0.3], [1.0, 0.4]]
    figures = NOTHING | {
        "heads": [
            looked("it-dev.tsv", "encoder", None, four, four),
            looked("it-dev.tsv", "cross", "fr", [[0.6, 0.1]], [[0.2, 0.1]]),
            looked("natural.tsv", "encoder", None, None, four),
        ],
        "chosen": [
            {"file": "it-dev.tsv", "kind": "encoder", "to": None, "head": [1, 1]},
            {"file": "it-dev.tsv", "kind": "cross", "to": "fr", "head": [0, 0]},
        ],
    }
    most, more = sheets(figures)
    assert most.columns == ("it-dev (80)", "natural (80)")
    assert most.rows == (
        ("guided head (3, 0)", "100 %", "100 %"),
        ("best other head (1, 1)", "70 %", "70 %"),
        ("best cross head, French (0, 0)", "20 %", "–"),
        ("by chance", "9 %", "9 %"),
    )
    assert [row[1] for row in more.rows] == ["100 %", "70 %", "60 %", "50 %"]
    assert [row[2] for row in more.rows] == ["–"] * 4
    assert most.notes[1] == "the others were chosen on it-dev"


def test_pronoun_and_link_stand_apart():
    held = {
        "head": [3, 0], "guided": True, "both": 40, "pronoun_alone": 20, "link_alone": 15,
        "neither": 5,
    }  # fmt: skip
    sheet = sheets(NOTHING | {"pronouns": [contrast("fr", with_links=held)]})[-1]
    assert sheet.title == "Pronoun and link of the guided head (most, of all words)"
    assert sheet.rows == (("pairs, French", "40 (50 %)", "20 (25 %)", "15 (19 %)", "5 (6 %)"),)


def test_alignment_has_a_column_for_each_layer():
    rates = {"aer": [0.155], "precision": [0.8], "recall": [0.9]}
    entry = ABOUT | {
        "file": "t.en-fr.tsv", "to": "fr", "kind": "copies", "known": 10, "written": [0.9],
        "later": [0.2], "diagonal": 0.5, "gold": {"written": rates, "later": rates},
    }  # fmt: skip
    known, gold = sheets(NOTHING | {"alignment": [entry]})
    assert known.columns == ("layer 0", "same place")
    assert known.rows == (
        ("t, French: 10 copies", "90 %", "50 %"),
        ("t, French: one step later", "20 %", "50 %"),
    )
    assert gold.rows[0] == ("t, French: AER", "15.5")
    assert gold.rows[3] == ("t, French: AER, one step later", "15.5")
    (alone,) = sheets(NOTHING | {"alignment": [entry | {"gold": None}]})
    assert alone.title == known.title


def test_a_file_is_called_by_its_name_and_a_sample_says_so():
    for file in ("a/tico.en-fr.tsv.gz", "tico.tsv", "tico.en.gz", "tico.en", "b/tico.txt", "tico"):
        assert label({"file": file, "where": {}}) == "tico"
    entry = translation("fr", 50.0) | {"lines": 400, "sampled_from": 1382}
    (sheet,) = sheets(NOTHING | {"translation": [entry]})
    assert sheet.rows == (("test", "50.0 / 60.0 (400 of 1,382 lines)"),)
