"""Converts nested structures of tensors and plain values to JSON and back. The tensors are in a separate list.

{"tensor": 0}                 an index into the list
{"value": 2}                  a number, a string, a bool or None
{"list": [...]}, {"tuple": [...]}, {"dict": {...}}
{"ragged": [...]}             the values of a ragged tensor, and its row splits
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unisono._src.state.store import JSON
from unisono.tf._spec import TensorSpec
from unisono.tf._tensors import as_array
from unisono.tf.ragged._ragged_tensor import RaggedTensor
from unisono.tf.ragged._spec import RaggedTensorSpec

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
        if isinstance(item, RaggedTensorSpec):
            item = _spec_parts(item)
        if isinstance(item, RaggedTensor):
            return {"ragged": [visit(item.values), visit(item.row_splits)]}
        if item is None or isinstance(item, bool | int | float | str):
            return {"value": item}
        if isinstance(item, Mapping) and all(isinstance(key, str) for key in item):
            return {"dict": {key: visit(inner) for key, inner in item.items()}}
        if isinstance(item, list | tuple):
            return {"tuple" if isinstance(item, tuple) else "list": [visit(inner) for inner in item]}
        raise TypeError(NOT_SAVEABLE.format(value=item, kind=type(item).__name__))

    return visit(nest), tensors


def ragged_tensors(node: JSON) -> set[int]:
    """The indices of the tensors that are parts of ragged ones: their first dims are sizes of their own."""
    ((kind, content),) = node.items()
    if kind in ("tensor", "value"):
        return set()
    parts = list(content.values()) if kind == "dict" else content
    inner = {part["tensor"] for part in parts if "tensor" in part} if kind == "ragged" else set()
    return inner.union(*map(ragged_tensors, parts))


def _spec_parts(spec: RaggedTensorSpec) -> RaggedTensor:
    """A ragged tensor with the specs of its parts."""
    flat: Any = TensorSpec([None, *spec.shape[spec.ragged_rank + 1 :]], spec.dtype)
    for _ in range(spec.ragged_rank):
        flat = RaggedTensor(flat, TensorSpec([None], "int32"))
    return flat  # type: ignore[no-any-return]


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
    if kind == "ragged":
        return RaggedTensor(*items)
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
    if kind == "ragged":
        if not isinstance(nest, RaggedTensor):
            return None
        pairs = list(zip(content, (nest.values, as_array(nest.row_splits, "int32")), strict=True))
    elif kind == "dict":
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
