"""Infers the signature of a generator's elements from its first element, where only the dtypes are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from unisono._src.data.plans import Nest, flatten, is_leaf, map_leaves, unflatten
from unisono.tf._dtypes import as_dtype
from unisono.tf._shape import TensorShape
from unisono.tf._spec import TensorSpec

NO_ELEMENT = """from_generator: the generator yields nothing, so the shapes of its elements cannot be inferred.
Pass output_signature=tf.TensorSpec(shape, dtype)."""

STRUCTURE_DIFFERS = (
    "from_generator: the generator yields {element!r}, whose structure differs from that of output_types, {types!r}."
)


def infer_signature(generator: Callable[[], Iterable[Nest]], types: Nest, shapes: Nest) -> Nest:
    """The signature of elements with these dtypes: the first element has the number of dims, whose sizes are unknown.

    Args:
        generator: the user's function; it is called once for this.
        types: a nest of dtypes.
        shapes: a nest of shapes, some of which may be unknown; None if all are.
    """
    element = next(iter(generator()), None)
    if element is None:
        raise ValueError(NO_ELEMENT)
    parts = _flatten_element(types, element)
    if parts is None:
        raise TypeError(STRUCTURE_DIFFERS.format(types=types, element=element))
    known = _flatten_shapes(types, shapes)
    specs = [
        TensorSpec([None] * np.ndim(part) if shape is None else shape, as_dtype(dtype))
        for part, dtype, shape in zip(parts, flatten(types), known, strict=True)
    ]
    return unflatten(types, specs)


def has_all_shapes(types: Nest, shapes: Nest) -> bool:
    """Whether the shape of each leaf is known."""
    return None not in _flatten_shapes(types, shapes)


def split_signature(signature: Nest) -> tuple[Nest, Nest]:
    """The dtypes and the shapes of a signature."""
    return map_leaves(lambda spec: spec.dtype, signature), map_leaves(lambda spec: spec.shape, signature)


def _flatten_element(types: Nest, element: Any) -> list[Any] | None:
    """The part of an element for each dtype, where a list is one part; None if the structures differ."""
    if is_leaf(types):
        return [element]
    keys = sorted(types) if isinstance(types, dict) else range(len(types))
    if isinstance(element, dict) != isinstance(types, dict) or len(element) != len(types):
        return None
    parts: list[Any] = []
    for key in keys:
        part = _flatten_element(types[key], element[key]) if not isinstance(types, dict) or key in element else None
        if part is None:
            return None
        parts.extend(part)
    return parts


def _flatten_shapes(types: Nest, shapes: Any) -> list[Any]:
    if isinstance(types, dict):
        return [
            shape
            for key in sorted(types)
            for shape in _flatten_shapes(types[key], None if shapes is None else shapes[key])
        ]
    if isinstance(types, tuple | list):
        parts = [None] * len(types) if shapes is None else shapes
        return [shape for one, part in zip(types, parts, strict=True) for shape in _flatten_shapes(one, part)]
    return [None if shapes is None or TensorShape(shapes).rank is None else TensorShape(shapes)]
