"""Computes a histogram for TensorBoard, rows of left edge, right edge and count, on the host or in the program."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def compute_histogram(values: Any, num_buckets: int) -> Any:
    """The table of ``num_buckets`` buckets of equal width, for NumPy arrays and traced values.

    Values that are all equal are in the last bucket, as in TensorFlow; values that are not finite in none.

    >>> compute_histogram(np.array([1.0, 2.0, 3.0]), 2)
    array([[1., 2., 1.],
           [2., 3., 2.]])
    """
    if num_buckets < 1:
        raise ValueError(f"tf.summary.histogram: buckets is {num_buckets}. Expected 1 or more.")
    xp = jnp if isinstance(values, jax.core.Tracer) else np
    numbers = xp.ravel(values).astype(np.float32 if xp is jnp else np.float64)
    if numbers.size == 0:
        return xp.zeros((num_buckets, 3), numbers.dtype)
    finite = xp.isfinite(numbers)
    low = xp.min(xp.where(finite, numbers, np.inf))
    high = xp.max(xp.where(finite, numbers, -np.inf))
    low, high = (xp.where(xp.isfinite(edge), edge, 0) for edge in (low, high))  # no value is finite
    width = (high - low) / num_buckets
    indices = xp.where(finite, (numbers - low) / xp.where(width > 0, width, 1), 0)
    last = num_buckets - 1
    indices = xp.where(width > 0, xp.clip(xp.floor(indices), 0, last), last).astype(np.int32)
    counts = xp.bincount(indices, weights=finite.astype(numbers.dtype), **_length_argument(xp, num_buckets))
    edges = xp.linspace(low, high, num_buckets + 1)
    return xp.stack([edges[:-1], edges[1:], counts.astype(numbers.dtype)], axis=1)


def _length_argument(xp: Any, num_buckets: int) -> dict[str, int]:
    """The argument for the number of counts, which each library names differently."""
    return {"length": num_buckets} if xp is jnp else {"minlength": num_buckets}
