"""A histogram as TensorBoard has it: rows of left edge, right edge and count. Computed where the numbers are."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def bucketed(values: Any, num_buckets: int) -> Any:
    """The table of ``num_buckets`` buckets of equal width, for values of NumPy or of a compiled function.

    Values that are all equal stand in the last bucket, as in TensorFlow; those that are not finite in none.

    >>> bucketed(np.array([1.0, 2.0, 3.0]), 2)
    array([[1., 2., 1.],
           [2., 3., 2.]])
    """
    if num_buckets < 1:
        raise ValueError(f"tf.summary.histogram: buckets is {num_buckets}. Expected 1 or more.")
    library = jnp if isinstance(values, jax.core.Tracer) else np
    numbers = library.ravel(values).astype(np.float32 if library is jnp else np.float64)
    if numbers.size == 0:
        return library.zeros((num_buckets, 3), numbers.dtype)
    finite = library.isfinite(numbers)
    least = library.min(library.where(finite, numbers, np.inf))
    most = library.max(library.where(finite, numbers, -np.inf))
    least, most = (library.where(library.isfinite(edge), edge, 0) for edge in (least, most))  # none is finite
    width = (most - least) / num_buckets
    places = library.where(finite, (numbers - least) / library.where(width > 0, width, 1), 0)
    last = num_buckets - 1
    places = library.where(width > 0, library.clip(library.floor(places), 0, last), last).astype(np.int32)
    counts = library.bincount(places, weights=finite.astype(numbers.dtype), **_length(library, num_buckets))
    edges = library.linspace(least, most, num_buckets + 1)
    return library.stack([edges[:-1], edges[1:], counts.astype(numbers.dtype)], axis=1)


def _length(library: Any, num_buckets: int) -> dict[str, int]:
    """How both libraries call the number of counts."""
    return {"length": num_buckets} if library is jnp else {"minlength": num_buckets}
