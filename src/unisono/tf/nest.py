"""`tf.nest`: functions for nested lists, tuples, named tuples and dicts. Dicts count in the order of sorted keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from unisono.tf._missing import explain_missing_names as _explain_missing_names

_DIFFERENT = "tf.nest: these do not have the same structure: {first!r} and {second!r}."
_WRONG_COUNT = "tf.nest.pack_sequence_as: the structure has {expected} leaves, but flat_sequence has {given} values."


def is_nested(structure: Any) -> bool:
    """Whether it is a list, a tuple or a dict."""
    return isinstance(structure, list | tuple | Mapping)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Returns the leaves as a list.

    >>> flatten({"b": 2, "a": [1, None]})
    [1, None, 2]
    """
    return list(_leaves(structure))


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Returns the structure with each leaf replaced by ``func(leaf)``, or ``func(*leaves)`` for several structures.

    >>> map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if not structure:
        raise ValueError("tf.nest.map_structure: got only the function. Expected map_structure(func, structure, ...).")
    check_types = kwargs.pop("check_types", True)
    kwargs.pop("expand_composites", None)
    if kwargs:
        raise TypeError(f"tf.nest.map_structure: unknown arguments {sorted(kwargs)}.")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types)
    results = [func(*leaves) for leaves in zip(*map(flatten, structure), strict=True)]
    return pack_sequence_as(structure[0], results)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Returns the structure with its leaves replaced by the values of ``flat_sequence``."""
    if not isinstance(flat_sequence, list | tuple):
        raise TypeError(f"tf.nest.pack_sequence_as: expected a list of values, got {type(flat_sequence).__name__}.")
    expected = len(flatten(structure))
    if expected != len(flat_sequence):
        raise ValueError(_WRONG_COUNT.format(expected=expected, given=len(flat_sequence)))
    return _pack(structure, iter(flat_sequence))


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises ValueError unless both have the same structure; TypeError if they differ in the types of containers."""
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(_DIFFERENT.format(first=nest1, second=nest2))
    if not is_nested(nest1):
        return
    if isinstance(nest1, Mapping) != isinstance(nest2, Mapping) or (
        check_types and _container_type(nest1) != _container_type(nest2)
    ):
        raise TypeError(_DIFFERENT.format(first=nest1, second=nest2))
    if len(nest1) != len(nest2) or (isinstance(nest1, Mapping) and set(nest1) != set(nest2)):
        raise ValueError(_DIFFERENT.format(first=nest1, second=nest2))
    for first, second in zip(_children(nest1), _children(nest2), strict=True):
        assert_same_structure(first, second, check_types)


def _container_type(container: Any) -> Any:
    """Lists of subclasses count as lists, as in TensorFlow: the attributes of a module may be some."""
    if isinstance(container, Mapping):
        return Mapping
    return list if isinstance(container, list) else type(container)


def _children(container: Any) -> Sequence[Any]:
    return [container[key] for key in sorted(container)] if isinstance(container, Mapping) else container


def _leaves(structure: Any) -> Iterator[Any]:
    if not is_nested(structure):
        yield structure
        return
    for each in _children(structure):
        yield from _leaves(each)


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    if isinstance(structure, Mapping):
        packed = {key: _pack(structure[key], leaves) for key in sorted(structure)}
        return type(structure)((key, packed[key]) for key in structure)  # type: ignore[call-arg]
    children = [_pack(each, leaves) for each in structure]
    return type(structure)(*children) if hasattr(structure, "_fields") else type(structure)(children)


__getattr__ = _explain_missing_names("tf.nest")
