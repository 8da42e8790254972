"""Nests of tensors and plain values as JSON, and back. Tensors stand apart, in a list.

{"tensor": 0}                 the first of the list
{"value": 2}                  a number, a string, a bool or None
{"list": [...]}, {"tuple": [...]}, {"dict": {...}}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unisono._src.state.store import JSON

NOT_SAVED = """{value!r}, a {kind}, cannot be saved in a SavedModel. Expected: tensors, numbers, strings, bools and
None, in lists, tuples and dicts with strings as keys."""


def taken_apart(nest: Any, is_tensor: Callable[[Any], bool]) -> tuple[JSON, list[Any]]:
    """The JSON of ``nest``, and its tensors. TypeError for what is neither a tensor nor plain.

    >>> taken_apart({"x": 1.5, "mode": "fast"}, lambda leaf: isinstance(leaf, float))
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
        raise TypeError(NOT_SAVED.format(value=item, kind=type(item).__name__))

    return visit(nest), tensors


def put_together(node: JSON, tensors: Sequence[Any]) -> Any:
    """The nest, with these tensors in their places.

    >>> put_together({"tuple": [{"tensor": 0}, {"value": None}]}, ["x"])
    ('x', None)
    """
    ((kind, content),) = node.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "value":
        return content
    if kind == "dict":
        return {key: put_together(inner, tensors) for key, inner in content.items()}
    items = [put_together(inner, tensors) for inner in content]
    return tuple(items) if kind == "tuple" else items


def tensors_at(node: JSON, nest: Any) -> dict[int, Any] | None:
    """What stands in ``nest`` where ``node`` has tensors; None if the nest is not like the node.

    >>> tensors_at({"list": [{"tensor": 0}, {"value": 2}]}, [10.0, 2])
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
        inside = tensors_at(inner, item)
        if inside is None:
            return None
        found |= inside
    return found
