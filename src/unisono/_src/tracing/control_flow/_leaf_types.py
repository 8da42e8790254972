"""Types of leaves: which type two values of one name have in common, so that a program can hold either."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono._src.tracing.control_flow._nests import Array, Leaf, Number


def leaf_type(leaf: Array | Number) -> Any:
    """Shape and dtype of a leaf that a program can compute."""
    return jax.typeof(leaf.array if isinstance(leaf, Array) else jnp.asarray(leaf.value))


def is_weak(leaf: Any) -> bool:
    """Whether a dtype is weak: that of Python's numbers, which adapts to that of arrays."""
    return bool(leaf.weak_type)


def common_dtype(one: Any, other: Any) -> Any:
    """The dtype for values of either type; None if there is none.

    A Python number takes the dtype of an array if that loses nothing. The dtype of arrays does not change.
    """
    if one.dtype == other.dtype:
        return one.dtype
    if is_weak(one) and is_weak(other):
        return jnp.promote_types(one.dtype, other.dtype)
    if is_weak(one) and _is_lossless(one, other.dtype):
        return other.dtype
    if is_weak(other) and _is_lossless(other, one.dtype):
        return one.dtype
    return None


def is_same_leaf(one: Leaf, other: Leaf) -> bool:
    """Whether both leaves are the same and need not be computed: one object, equal numbers, equal text."""
    if one.value is other.value:
        return True
    if isinstance(one.value, str | bytes) or (isinstance(one, Number) and isinstance(other, Number)):
        return type(one.value) is type(other.value) and bool(one.value == other.value)
    return False


def as_dtype(array: Any, dtype: Any) -> Any:
    """``array`` as one of this dtype."""
    array = jnp.asarray(array)
    return array if array.dtype == dtype else array.astype(dtype)


def _is_lossless(weak: Any, dtype: Any) -> bool:
    """Whether a Python number of this type fits into ``dtype``: integers into any but bool, floats into floats."""
    if jnp.issubdtype(dtype, jnp.bool_):
        return False
    if jnp.issubdtype(weak.dtype, jnp.integer):
        return True
    if jnp.issubdtype(weak.dtype, jnp.floating):
        return jnp.issubdtype(dtype, jnp.inexact)
    return jnp.issubdtype(dtype, jnp.complexfloating)
