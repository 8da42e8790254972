"""What two values of one name have in common, so that a program can choose between them or carry one to the other."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono._src.tracing.control_flow._nests import Array, Leaf, Number


def kind_of(leaf: Array | Number) -> Any:
    """Shape and dtype of a leaf that a program can compute."""
    return jax.typeof(leaf.array if isinstance(leaf, Array) else jnp.asarray(leaf.value))


def is_weak(kind: Any) -> bool:
    """Whether a dtype was not asked for: that of Python's numbers, which adapts to others."""
    return bool(kind.weak_type)


def common_dtype(one: Any, other: Any) -> Any:
    """The dtype for values of either kind; None if there is none.

    A number of Python's takes the dtype of an array where that loses nothing. Of arrays, none is changed.
    """
    if one.dtype == other.dtype:
        return one.dtype
    if is_weak(one) and is_weak(other):
        return jnp.promote_types(one.dtype, other.dtype)
    if is_weak(one) and _fits(one, other.dtype):
        return other.dtype
    if is_weak(other) and _fits(other, one.dtype):
        return one.dtype
    return None


def is_one(one: Leaf, other: Leaf) -> bool:
    """Whether both leaves are the same and need not be computed: one object, equal numbers, equal texts."""
    if one.value is other.value:
        return True
    if isinstance(one.value, str | bytes) or (isinstance(one, Number) and isinstance(other, Number)):
        return type(one.value) is type(other.value) and bool(one.value == other.value)
    return False


def as_dtype(array: Any, dtype: Any) -> Any:
    """``array`` as one of this dtype."""
    array = jnp.asarray(array)
    return array if array.dtype == dtype else array.astype(dtype)


def _fits(weak: Any, dtype: Any) -> bool:
    """Whether a number of Python's of this kind can be one of ``dtype``: whole numbers of all, fractions of floats."""
    if jnp.issubdtype(dtype, jnp.bool_):
        return False
    if jnp.issubdtype(weak.dtype, jnp.integer):
        return True
    if jnp.issubdtype(weak.dtype, jnp.floating):
        return jnp.issubdtype(dtype, jnp.inexact)
    return jnp.issubdtype(dtype, jnp.complexfloating)
