"""What can be seen of a plan, as JSON: the same observer looks at both libraries.

A leaf is `[shape, dtype, value]`, a leaf of an element_spec is `[shape, dtype]`, and a container says its kind:
`{"tuple": […]}`, `{"dict": {…}}`, `{"dataset": […]}`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from ._space import Space

MOST_ELEMENTS = 20
"""Longer plans are of no use here; those without end are seen this far."""
ENDLESS_ELEMENTS = 7


def observe(plan: Callable[[Space], Any], space: Space) -> dict[str, Any]:
    """`{"error": "construction"}`, `{"value": …}`, or what there is to see of a dataset."""
    try:
        result = plan(space)
    except Exception as error:
        if space.lacks(error):
            raise
        return {"error": "construction"}
    if not _is_dataset(result):
        return {"value": encoded(result)}
    cardinality = int(result.cardinality())
    seen: dict[str, Any] = {
        "spec": _spec(result),
        "cardinality": cardinality,
        "len": _len(result),
    }
    limit = ENDLESS_ELEMENTS if cardinality == -1 else MOST_ELEMENTS
    first, second = _one_pass(result, limit), _one_pass(result, limit)
    seen.update(first)
    if second != first:
        seen["second_pass"] = second
    return seen


def _one_pass(dataset: Any, limit: int) -> dict[str, Any]:
    elements: list[Any] = []
    try:
        elements.extend(encoded(element) for element in islice(dataset, limit))
    except Exception:
        return {"error": "iteration", "elements": elements}
    return {"elements": elements}


def _is_dataset(nest: Any) -> bool:
    # Of the type: to ask an instance may run the plan.
    return hasattr(type(nest), "element_spec") or "element_spec" in getattr(type(nest), "__dataclass_fields__", ())


def _spec(dataset: Any) -> Any:
    try:
        return encoded_spec(dataset.element_spec)
    except Exception as error:  # a function that fails is run to learn the spec, where it cannot be traced
        return type(error).__name__


def _len(dataset: Any) -> int | str:
    try:
        return len(dataset)
    except TypeError:
        return "TypeError"


def encoded(nest: Any) -> Any:
    """A nest of arrays as JSON."""
    if _is_dataset(nest):
        return {"dataset": [encoded(element) for element in islice(nest, MOST_ELEMENTS)]}
    if isinstance(nest, (bool, int, float)):  # a plan that states a fact
        return nest
    return _leaf(nest) if _is_leaf(nest) else _container(encoded, nest)


def encoded_spec(nest: Any) -> Any:
    """A nest of specs as JSON."""
    if _is_dataset(nest):  # or the spec of a dataset in a dataset
        return {"dataset": encoded_spec(nest.element_spec)}
    return _spec_leaf(nest) if _is_leaf(nest) else _container(encoded_spec, nest)


def _is_leaf(nest: Any) -> bool:
    return not isinstance(nest, (dict, tuple, list))


def _container(function: Callable[[Any], Any], nest: Any) -> Any:
    match nest:
        case dict():
            return {"dict": {key: function(nest[key]) for key in sorted(nest)}}
        case tuple() if hasattr(nest, "_fields"):
            return {type(nest).__name__: {key: function(getattr(nest, key)) for key in nest._fields}}
        case tuple():
            return {"tuple": [function(child) for child in nest]}
        case list():
            return [function(child) for child in nest]


def _leaf(leaf: Any) -> Any:
    if leaf is None:
        return None
    array = np.asarray(leaf)
    if array.dtype.kind in "SOU":
        value = np.vectorize(_text, otypes=[object])(array).tolist() if array.size else array.tolist()
    else:
        value = array.tolist()
    return [list(array.shape), dtype_name(array.dtype), value]


def _text(text: Any) -> Any:
    return {"bytes": text.decode()} if isinstance(text, bytes) else str(text)


def _spec_leaf(spec: Any) -> Any:
    if not hasattr(spec, "shape"):
        return None
    shape = spec.shape
    rank_is_known = getattr(shape, "rank", 0) is not None
    return [list(shape) if rank_is_known else None, dtype_name(spec.dtype)]


def dtype_name(dtype: Any) -> str:
    """TensorFlow has one kind of string, bytes of any length: NumPy's bytes count as the same."""
    kind = getattr(dtype, "kind", None)
    if kind == "U":
        return "str"
    return "string" if kind in ("S", "O") else dtype.name
