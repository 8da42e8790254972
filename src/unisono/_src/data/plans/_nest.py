"""Nests: tuples, lists, dicts and namedtuples with anything else, None included, as leaves.

Written here because this package may import neither JAX nor optree. The keys of dicts are sorted. JAX flattens the same
nest in the same order, except that it keeps the order of an OrderedDict.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Nest: TypeAlias = Any
"""A leaf, or a tuple, list, dict or namedtuple of nests. Python's types cannot say more."""

_CONTAINERS = (tuple, list, dict)


def is_leaf(nest: Nest) -> bool:
    """Whether `nest` is one value rather than a container of values."""
    return not isinstance(nest, _CONTAINERS)


def map_leaves(function: Callable[[Any], Any], nest: Nest, stop: Callable[[Nest], bool] = is_leaf) -> Nest:
    """The same nest with `function` applied to each leaf; `stop` may call more things a leaf.

    >>> map_leaves(lambda leaf: leaf + 1, {"b": (1, 2), "a": [3]})
    {'b': (2, 3), 'a': [4]}
    """
    if not isinstance(nest, _CONTAINERS) or stop(nest):
        return function(nest)
    if isinstance(nest, dict):
        mapped = copy.copy(nest)  # keeps the class (OrderedDict, defaultdict) and the order of the keys
        for key in sorted(nest):
            mapped[key] = map_leaves(function, nest[key], stop)
        return mapped
    # Elements are mostly flat tuples, and this runs for each of them: leaves are handled without another call.
    children = [
        map_leaves(function, child, stop) if isinstance(child, _CONTAINERS) else function(child) for child in nest
    ]
    if hasattr(nest, "_fields"):  # a namedtuple takes its children one by one
        return type(nest)(*children)
    return type(nest)(children)


def flatten(nest: Nest) -> list[Any]:
    """The leaves of `nest`, in an order that depends on the structure alone.

    >>> flatten({"b": (1, 2), "a": None})
    [None, 1, 2]
    """
    if not isinstance(nest, _CONTAINERS):
        return [nest]
    leaves: list[Any] = []
    for child in [nest[key] for key in sorted(nest)] if isinstance(nest, dict) else nest:
        if isinstance(child, _CONTAINERS):
            leaves.extend(flatten(child))
        else:
            leaves.append(child)
    return leaves


def unflatten(like: Nest, leaves: Iterable[Any]) -> Nest:
    """The nest with the structure of `like` and these leaves.

    >>> unflatten({"b": 0, "a": (0, 0)}, [1, 2, 3])
    {'b': 3, 'a': (1, 2)}
    """
    following = iter(leaves)
    return map_leaves(lambda _: next(following), like)


def structure(nest: Nest) -> Nest:
    """`nest` with `...` for every leaf: equal for nests of equal structure, and readable in an error."""
    return map_leaves(lambda _: ..., nest)


def same_structure(one: Nest, other: Nest) -> bool:
    """Whether `structure` of both is equal.

    >>> same_structure((1, {"a": 2}), (3, {"a": None})), same_structure((1, 2), (1, (2,)))
    (True, False)
    """
    if not isinstance(one, _CONTAINERS) or not isinstance(other, _CONTAINERS):
        return not isinstance(one, _CONTAINERS) and not isinstance(other, _CONTAINERS)
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(same_structure(one[key], other[key]) for key in one)
        )
    same_kind = isinstance(other, list) if isinstance(one, list) else isinstance(other, tuple)
    return same_kind and len(one) == len(other) and all(map(same_structure, one, other))


def leaf_names(nest: Nest, root: str) -> list[str]:
    """How to write each leaf in Python, in the order of `flatten`: what an error calls it.

    >>> leaf_names(({"x": 1}, 2), "tensors")
    ["tensors[0]['x']", 'tensors[1]']
    """
    if is_leaf(nest):
        return [root]
    keys: Iterable[Any] = sorted(nest) if isinstance(nest, dict) else range(len(nest))
    return [name for key in keys for name in leaf_names(nest[key], f"{root}[{key!r}]")]


def apply(function: Callable[..., Any], element: Nest) -> Nest:
    """Calls `function` on one element as tf.data does: `(x, y)` gives two arguments, everything else one.

    A namedtuple is one argument: its names would be lost otherwise.
    """
    return function(*element) if type(element) is tuple else function(element)
