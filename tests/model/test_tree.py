"""Trees of weights and their flat names."""

from clearhead.model.tree import flatten, map_tree, nest


def test_nesting_undoes_flattening_also_beyond_nine_layers():
    tree = {"layers": [{"w": i} for i in range(12)], "norm": 5, "deep": {"a": {"b": 1}}}
    assert nest(flatten(tree)) == tree
    assert list(flatten(tree))[10:12] == ["layers.10.w", "layers.11.w"]


def test_order_of_the_names_does_not_matter():
    assert nest({"a.1": "y", "a.0": "x"}) == {"a": ["x", "y"]}


def test_every_leaf_is_mapped():
    assert map_tree(lambda leaf: leaf + 1, {"a": [1, {"b": 2}]}) == {"a": [2, {"b": 3}]}
