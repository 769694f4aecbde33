"""Recipes: what they hold, what they refuse, and the rate they ask for."""

import json

import pytest

from clearhead.errors import ArgumentError
from clearhead.training.recipe import Recipe

PAIRS = {"fr": ["pairs.tsv"]}


def test_a_recipe_comes_back_as_it_was_written(tmp_path):
    pairs = {"fr": ["pairs.tsv#en,fr", ["pairs.en", "pairs.fr"]]}
    recipe = Recipe(pairs, steps=7, guided=(1, 2), dev={"fr": ["dev.en", "dev.fr"]})
    recipe.write(tmp_path / "recipe.json")
    assert Recipe.read(tmp_path / "recipe.json") == recipe


def test_the_rate_grows_stays_and_falls_in_straight_lines():
    recipe = Recipe(PAIRS, steps=100, warmup=10, rate=1.0, decay=0.4, floor=0.02)
    rates = [recipe.rate_at(step) for step in range(101)]
    assert rates[:10] == pytest.approx([(i + 1) / 10 for i in range(10)])
    assert set(rates[10:61]) == {1.0}
    assert rates[80] == pytest.approx(0.02 + 0.98 / 2)
    assert rates[100] == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps is 0; wanted a whole number of at least 1"),
        ({"steps": "many"}, "steps is 'many'"),
        ({"dev": {"de": "dev.tsv"}}, r"dev is \['de'\]; wanted languages of pairs, fr"),
        ({"width": True}, "width is True"),
        ({"width": 10**30}, "width is 1000"),
        ({"smoothing": 2}, "smoothing is 2; wanted a number from 0 to 1"),
        ({"rate": float("nan")}, "rate is nan"),
        ({"pairs": ["a.tsv"]}, r"pairs is \['a.tsv'\]; wanted lists of files by language tag"),
        ({"pairs": {"fr": "a.tsv"}}, "wanted lists of files by language tag"),
        ({"pairs": {"fr": [1]}}, 'each "FILE", "FILE#SOURCE,TARGET" or'),
        ({"pairs": {"fr": [["a", "b", "c"]]}}, "wanted lists of files by language tag"),
        ({"dev": {"fr": 1}}, "dev is .*wanted files by language tag"),
        ({"dev": {"fr": ["a"]}}, "dev is"),
        ({"antecedents": 3}, "antecedents is 3"),
        ({"precision": "float8"}, "wanted 'auto', 'float32' or 'bfloat16'"),
        ({"guided": [9, 0]}, r"guided is \[9, 0\]; wanted \[layer, head\] of the encoder"),
        ({"guided": [0, 6]}, "guided is"),
        ({"guided": "last"}, "guided is"),
        ({"colour": "red"}, r"entries this version does not know: \['colour'\]"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(changes, message):
    with pytest.raises(ArgumentError, match=message):
        Recipe.from_dict({"pairs": PAIRS} | changes)


def test_a_recipe_without_pairs_is_refused():
    with pytest.raises(ArgumentError, match="names no pairs"):
        Recipe.from_dict({"steps": 3})


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"null"])
def test_a_file_that_holds_no_recipe_is_refused(tmp_path, content):
    (tmp_path / "recipe.json").write_bytes(content)
    with pytest.raises(ArgumentError, match="recipe"):
        Recipe.read(tmp_path / "recipe.json")


def test_entries_of_json_lists_become_plain_tuples():
    held = json.loads(json.dumps({"pairs": PAIRS, "guided": [-1, 0]}))
    assert Recipe.from_dict(held).guided == (-1, 0)
