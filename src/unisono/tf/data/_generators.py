"""Generators of which only the dtypes are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from unisono._src.data.plans import Nest, flatten, is_leaf, unflatten
from unisono.tf._dtypes import as_dtype
from unisono.tf._shape import TensorShape
from unisono.tf._spec import TensorSpec

NO_ELEMENT = """from_generator: the generator yields nothing, so the shapes of its elements cannot be found out.
Pass output_signature=tf.TensorSpec(shape, dtype)."""

UNLIKE = (
    """from_generator: output_types is {types!r}, and the generator yields {element!r}, which has another structure."""
)


def signature_of_first(generator: Callable[[], Iterable[Nest]], types: Nest, shapes: Nest) -> Nest:
    """A signature for elements of these dtypes: the first element says how many dims there are, all of which are open.

    Args:
        generator: the user's function; it is called once for this.
        types: a nest of dtypes.
        shapes: a nest of shapes, of which some may be unknown; None if all are.
    """
    element = next(iter(generator()), None)
    if element is None:
        raise ValueError(NO_ELEMENT)
    parts = _flat_parts(types, element)
    if parts is None:
        raise TypeError(UNLIKE.format(types=types, element=element))
    known = _flat_shapes(types, shapes)
    specs = [
        TensorSpec([None] * np.ndim(part) if shape is None else shape, as_dtype(dtype))
        for part, dtype, shape in zip(parts, flatten(types), known, strict=True)
    ]
    return unflatten(types, specs)


def are_known(types: Nest, shapes: Nest) -> bool:
    """Whether there is a shape for each part."""
    return None not in _flat_shapes(types, shapes)


def _flat_parts(types: Nest, element: Any) -> list[Any] | None:
    """The part of an element for each dtype, a list being one; None if they do not fit."""
    if is_leaf(types):
        return [element]
    keys = sorted(types) if isinstance(types, dict) else range(len(types))
    if isinstance(element, dict) != isinstance(types, dict) or len(element) != len(types):
        return None
    parts: list[Any] = []
    for key in keys:
        part = _flat_parts(types[key], element[key]) if not isinstance(types, dict) or key in element else None
        if part is None:
            return None
        parts.extend(part)
    return parts


def _flat_shapes(types: Nest, shapes: Any) -> list[Any]:
    if isinstance(types, dict):
        return [
            shape
            for key in sorted(types)
            for shape in _flat_shapes(types[key], None if shapes is None else shapes[key])
        ]
    if isinstance(types, tuple | list):
        parts = [None] * len(types) if shapes is None else shapes
        return [shape for one, part in zip(types, parts, strict=True) for shape in _flat_shapes(one, part)]
    return [None if shapes is None or TensorShape(shapes).rank is None else TensorShape(shapes)]
