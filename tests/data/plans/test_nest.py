from __future__ import annotations

from collections import OrderedDict, namedtuple

import jax

from unisono._src.data.plans import flatten, leaf_names, map_leaves, structure, unflatten

Point = namedtuple("Point", ["x", "y"])

NESTS = [
    1,
    None,
    (),
    (1, 2),
    [1, (2, [3])],
    {"b": 1, "a": (2, 3)},
    Point(1, {"z": 2, "a": 3}),
    ({"x": None}, [None, 1]),
]


def test_leaves_come_in_the_order_in_which_jax_flattens_them() -> None:
    for nest in NESTS:
        assert flatten(nest) == jax.tree.leaves(nest, is_leaf=lambda leaf: leaf is None)


def test_unflatten_undoes_flatten() -> None:
    for nest in NESTS:
        assert unflatten(nest, flatten(nest)) == nest


def test_the_order_of_dict_keys_does_not_change_the_leaves() -> None:
    assert flatten({"b": 1, "a": 2}) == flatten({"a": 2, "b": 1}) == [2, 1]


def test_mapping_keeps_classes_and_the_order_of_keys() -> None:
    mapped = map_leaves(lambda leaf: leaf + 1, (Point(1, 2), OrderedDict(b=1, a=2)))
    assert mapped == (Point(2, 3), OrderedDict(b=2, a=3))
    assert isinstance(mapped[0], Point)
    assert list(mapped[1]) == ["b", "a"]


def test_none_is_a_leaf() -> None:
    assert flatten((None, 1)) == [None, 1]


def test_structures_are_equal_whatever_the_leaves() -> None:
    assert structure({"a": (1, 2)}) == structure({"a": ("x", None)})
    assert structure({"a": 1}) != structure({"b": 1})
    assert structure((1, 2)) != structure([1, 2])


def test_names_are_written_as_python() -> None:
    assert leaf_names({"b": (1, 2), "a": 3}, "x") == ["x['a']", "x['b'][0]", "x['b'][1]"]
    assert leaf_names(7, "x") == ["x"]
