"""Lists, tuples, named tuples and dicts of things. The keys of dicts count in sorted order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

DIFFERENT = "The two do not have the same structure: {first!r} and {second!r}."
COUNT = "The structure has {expected} places, and {given} values were given for them."


def is_nested(structure: Any) -> bool:
    """Whether it is a list, a tuple or a dict."""
    return isinstance(structure, list | tuple | Mapping)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The things in it, in order.

    >>> flatten({"b": 2, "a": [1, None]})
    [1, None, 2]
    """
    return list(_leaves(structure))


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """The same structure with what ``func`` makes of each thing, or of each of several in the same place.

    >>> map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if not structure:
        raise ValueError("tf.nest.map_structure needs a structure beside the function.")
    check_types = kwargs.pop("check_types", True)
    kwargs.pop("expand_composites", None)
    if kwargs:
        raise TypeError(f"tf.nest.map_structure: unknown arguments {sorted(kwargs)}.")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types)
    results = [func(*things) for things in zip(*map(flatten, structure), strict=True)]
    return pack_sequence_as(structure[0], results)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """These things in the places of the structure."""
    if not isinstance(flat_sequence, list | tuple):
        raise TypeError(f"tf.nest.pack_sequence_as: expected a list of values, got {type(flat_sequence).__name__}.")
    expected = len(flatten(structure))
    if expected != len(flat_sequence):
        raise ValueError(COUNT.format(expected=expected, given=len(flat_sequence)))
    return _packed(structure, iter(flat_sequence))


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises unless both have things in the same places; a TypeError where they use different kinds of containers."""
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(DIFFERENT.format(first=nest1, second=nest2))
    if not is_nested(nest1):
        return
    if isinstance(nest1, Mapping) != isinstance(nest2, Mapping) or (check_types and _kind(nest1) != _kind(nest2)):
        raise TypeError(DIFFERENT.format(first=nest1, second=nest2))
    if len(nest1) != len(nest2) or (isinstance(nest1, Mapping) and set(nest1) != set(nest2)):
        raise ValueError(DIFFERENT.format(first=nest1, second=nest2))
    for first, second in zip(_inside(nest1), _inside(nest2), strict=True):
        assert_same_structure(first, second, check_types)


def _kind(container: Any) -> Any:
    return Mapping if isinstance(container, Mapping) else type(container)


def _inside(container: Any) -> Sequence[Any]:
    return [container[key] for key in sorted(container)] if isinstance(container, Mapping) else container


def _leaves(structure: Any) -> Iterator[Any]:
    if not is_nested(structure):
        yield structure
        return
    for each in _inside(structure):
        yield from _leaves(each)


def _packed(structure: Any, things: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(things)
    if isinstance(structure, Mapping):
        made = {key: _packed(structure[key], things) for key in sorted(structure)}
        return type(structure)((key, made[key]) for key in structure)  # type: ignore[call-arg]
    parts = [_packed(each, things) for each in structure]
    return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
