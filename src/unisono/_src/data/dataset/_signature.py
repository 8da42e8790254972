"""What the user says about the elements of a generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono._src.data.dataset._spec import TensorSpec
from unisono._src.data.plans import Nest, Signature, flatten, structure


def signature_from(specs: Nest, types: Nest, shapes: Nest) -> Signature | None:
    """A signature out of `output_signature`, or out of TensorFlow 1's `output_types` and `output_shapes`."""
    if specs is None and types is None:
        return None
    if specs is None:
        return _from_types(types, shapes)
    leaves = flatten(specs)
    if not all(hasattr(spec, "shape") and hasattr(spec, "dtype") for spec in leaves):
        raise TypeError(f"from_generator: output_signature is a nest of TensorSpec, but it is {specs!r}.")
    dtypes = tuple(TensorSpec((), spec.dtype).dtype for spec in leaves)
    return Signature(structure(specs), tuple(tuple(spec.shape) for spec in leaves), dtypes, given=True)


def _from_types(types: Nest, shapes: Nest) -> Signature:
    if shapes is None:
        raise ValueError(
            "from_generator: output_types without output_shapes says too little. Write "
            "output_signature=TensorSpec(shape, dtype), with None for dims that vary."
        )
    dtypes = tuple(TensorSpec((), dtype).dtype for dtype in flatten(types))
    return Signature(structure(types), tuple(_flat_shapes(types, shapes)), dtypes, given=True)


def _flat_shapes(types: Nest, shapes: Any) -> list[tuple[int | None, ...]]:
    """The shape of each leaf of `types`: shapes are tuples themselves, so `types` says where the leaves are."""
    if isinstance(types, dict):
        return [shape for key in sorted(types) for shape in _flat_shapes(types[key], shapes[key])]
    if isinstance(types, tuple | list):
        return [shape for one, part in zip(types, shapes, strict=True) for shape in _flat_shapes(one, part)]
    return [tuple(None if dim is None else int(np.asarray(dim)) for dim in shapes)]
