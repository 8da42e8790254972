"""Converts nested structures of tensors and plain values to JSON and back. The tensors are in a separate list.

{"tensor": 0}                 an index into the list
{"value": 2}                  a number, a string, a bool or None
{"list": [...]}, {"tuple": [...]}, {"dict": {...}}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unisono._src.state.store import JSON

NOT_SAVEABLE = """{value!r}, a {kind}, cannot be saved in a SavedModel. Expected: tensors, numbers, strings, bools and
None, in lists, tuples and dicts with strings as keys."""


def flatten_nest(nest: Any, is_tensor: Callable[[Any], bool]) -> tuple[JSON, list[Any]]:
    """Returns the JSON of ``nest`` and its tensors. Raises TypeError for a leaf that is neither a tensor nor plain.

    >>> flatten_nest({"x": 1.5, "mode": "fast"}, lambda leaf: isinstance(leaf, float))
    ({'dict': {'x': {'tensor': 0}, 'mode': {'value': 'fast'}}}, [1.5])
    """
    tensors: list[Any] = []

    def visit(item: Any) -> JSON:
        if is_tensor(item):
            tensors.append(item)
            return {"tensor": len(tensors) - 1}
        if item is None or isinstance(item, bool | int | float | str):
            return {"value": item}
        if isinstance(item, Mapping) and all(isinstance(key, str) for key in item):
            return {"dict": {key: visit(inner) for key, inner in item.items()}}
        if isinstance(item, list | tuple):
            return {"tuple" if isinstance(item, tuple) else "list": [visit(inner) for inner in item]}
        raise TypeError(NOT_SAVEABLE.format(value=item, kind=type(item).__name__))

    return visit(nest), tensors


def unflatten_nest(node: JSON, tensors: Sequence[Any]) -> Any:
    """The inverse of :func:`flatten_nest`.

    >>> unflatten_nest({"tuple": [{"tensor": 0}, {"value": None}]}, ["x"])
    ('x', None)
    """
    ((kind, content),) = node.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "value":
        return content
    if kind == "dict":
        return {key: unflatten_nest(inner, tensors) for key, inner in content.items()}
    items = [unflatten_nest(inner, tensors) for inner in content]
    return tuple(items) if kind == "tuple" else items


def match_nest(node: JSON, nest: Any) -> dict[int, Any] | None:
    """The parts of ``nest`` where ``node`` has tensors, by index; None if the structures or plain values differ.

    >>> match_nest({"list": [{"tensor": 0}, {"value": 2}]}, [10.0, 2])
    {0: 10.0}
    """
    ((kind, content),) = node.items()
    if kind == "tensor":
        return {content: nest}
    if kind == "value":
        return {} if type(nest) is type(content) and nest == content else None
    if kind == "dict":
        if not isinstance(nest, Mapping) or nest.keys() != content.keys():
            return None
        pairs = [(inner, nest[key]) for key, inner in content.items()]
    else:
        if not isinstance(nest, tuple if kind == "tuple" else list) or len(nest) != len(content):
            return None
        pairs = list(zip(content, nest, strict=True))
    found: dict[int, Any] = {}
    for inner, item in pairs:
        inside = match_nest(inner, item)
        if inside is None:
            return None
        found |= inside
    return found
