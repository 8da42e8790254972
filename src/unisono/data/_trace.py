"""Map functions as JAX sees them: whether they trace, and one function of a batch made of many of an element.

Leaves that JAX has no type for (strings, dates) go past it: a function may hand them on, but not look inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import jax
import numpy as np

from unisono.plans import Nest, apply, map_leaves

MapFunction: TypeAlias = Callable[..., Any]

FOREIGN_KINDS = "OSUMm"  # NumPy's letters for object, bytes, str, datetime and timedelta


def row_struct(arrays: Nest) -> Nest:
    """The `jax.ShapeDtypeStruct`s of one row of a nest of arrays: the element that the first map gets."""
    return map_leaves(lambda array: struct(array.shape[1:], array.dtype), arrays)


def struct(shape: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """A `jax.ShapeDtypeStruct` with the dtype that JAX will make of this one: float32 of float64, unless x64 is on."""
    known = dtype.kind not in FOREIGN_KINDS
    return jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(dtype) if known else dtype)


def trace(function: MapFunction, element_struct: Nest) -> Nest:
    """The structs of `function`'s result, found without computing anything. Raises what tracing raises."""
    return _past_foreign_leaves(lambda inner: partial(jax.eval_shape, inner), partial(apply, function), element_struct)


def can_trace(function: MapFunction, element_struct: Nest) -> str | None:
    """None when JAX can trace `function` on such an element, else the reason in one line.

    Any exception counts: a function that reads files fails here, and so does one with a mistake in it. The
    second fails again, and is seen, when it runs on the host.

    >>> image = jax.ShapeDtypeStruct((28, 28), np.uint8)
    >>> can_trace(lambda x: x / 255, image) is None
    True
    >>> can_trace(lambda x: x.numpy(), image).partition(":")[0]
    'AttributeError'
    """
    try:
        trace(function, element_struct)
    except Exception as error:
        return one_line(error)
    return None


def one_line(error: Exception) -> str:
    """The exception's type and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def vectorised(element_maps: Sequence[MapFunction], batch_maps: Sequence[MapFunction]) -> Callable[[Nest], Nest]:
    """One function of a batch: the element maps under one `jax.vmap`, then the batch maps.

    >>> import numpy as np
    >>> vectorised([lambda x: x.sum()], [lambda sums: sums * 10])(np.ones((2, 3))).tolist()
    [30.0, 30.0]
    """

    def of_element(element: Nest) -> Nest:
        for function in element_maps:
            element = apply(function, element)
        return element

    def of_batch(batch: Nest) -> Nest:
        if element_maps:
            batch = _past_foreign_leaves(jax.vmap, of_element, batch)
        for function in batch_maps:
            batch = apply(function, batch)
        return batch

    return of_batch


@dataclass(frozen=True, eq=False)
class _Foreign:
    """A leaf that JAX has no type for, wrapped so that whoever computes with it fails."""

    leaf: Any


def _past_foreign_leaves(
    transform: Callable[[Callable[..., Any]], Callable[..., Any]],
    function: Callable[[Nest], Nest],
    nest: Nest,
) -> Nest:
    """`transform(function)(nest)`, where `transform` never meets a foreign leaf, coming or going."""
    leaves, tree = jax.tree.flatten(nest)
    known = [None if leaf.dtype.kind in FOREIGN_KINDS else leaf for leaf in leaves]  # None: JAX sees no leaf at all
    if all(leaf is None for leaf in known):
        raise TypeError(f"JAX has no type for any part of the element ({', '.join(str(x.dtype) for x in leaves)})")
    results: list[Any] = []
    result_trees: list[Any] = []

    def on_known_leaves(known: list[Any]) -> list[Any]:
        whole = [_Foreign(leaf) if part is None else part for part, leaf in zip(known, leaves, strict=True)]
        results[:], result_tree = jax.tree.flatten(function(jax.tree.unflatten(tree, whole)))
        result_trees.append(result_tree)
        return [None if isinstance(result, _Foreign) else result for result in results]

    known_results = transform(on_known_leaves)(known)
    merged = [
        result.leaf if isinstance(result, _Foreign) else known_result
        for result, known_result in zip(results, known_results, strict=True)
    ]
    return jax.tree.unflatten(result_trees[-1], merged)
