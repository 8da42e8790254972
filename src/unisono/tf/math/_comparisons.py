"""Comparisons, logical operations, and tests for NaN, infinity and order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import as_bytes_array, convert_operands
from unisono.tf._tensors import as_array, is_text, to_host_tensor


@op
def equal(x: Any, y: Any) -> Any:
    """`x == y`, also for strings."""
    return _compare(x, y, np.equal, jnp.equal)


@op
def not_equal(x: Any, y: Any) -> Any:
    """`x != y`, also for strings."""
    return _compare(x, y, np.not_equal, jnp.not_equal)


@op
def less(x: Any, y: Any) -> Any:
    """`x < y`."""
    return jnp.less(*convert_operands(x, y))


@op
def less_equal(x: Any, y: Any) -> Any:
    """`x <= y`."""
    return jnp.less_equal(*convert_operands(x, y))


@op
def greater(x: Any, y: Any) -> Any:
    """`x > y`."""
    return jnp.greater(*convert_operands(x, y))


@op
def greater_equal(x: Any, y: Any) -> Any:
    """`x >= y`."""
    return jnp.greater_equal(*convert_operands(x, y))


@op
def logical_and(x: Any, y: Any) -> Any:
    """`x and y`, element by element."""
    return jnp.logical_and(as_array(x), as_array(y))


@op
def logical_or(x: Any, y: Any) -> Any:
    """`x or y`, element by element."""
    return jnp.logical_or(as_array(x), as_array(y))


@op
def logical_xor(x: Any, y: Any) -> Any:
    """Whether exactly one of ``x`` and ``y`` is true."""
    return jnp.logical_xor(as_array(x), as_array(y))


@op
def logical_not(x: Any) -> Any:
    """`not x`, element by element."""
    return jnp.logical_not(as_array(x))


@op
def is_nan(x: Any) -> Any:
    """Whether the element is NaN."""
    return jnp.isnan(as_array(x))


@op
def is_inf(x: Any) -> Any:
    """Whether the element is infinite."""
    return jnp.isinf(as_array(x))


@op
def is_finite(x: Any) -> Any:
    """Whether the element is neither NaN nor infinite."""
    return jnp.isfinite(as_array(x))


@op
def is_non_decreasing(x: Any) -> Any:
    """Whether no element is smaller than the one before it."""
    flat = as_array(x).reshape(-1)
    return jnp.all(flat[1:] >= flat[:-1])


@op
def is_strictly_increasing(x: Any) -> Any:
    """Whether every element is larger than the one before it."""
    flat = as_array(x).reshape(-1)
    return jnp.all(flat[1:] > flat[:-1])


def _compare(x: Any, y: Any, numpy_function: Callable[..., Any], jax_function: Callable[..., Any]) -> Any:
    if is_text(x) or is_text(y):
        return to_host_tensor(np.asarray(numpy_function(as_bytes_array(x), as_bytes_array(y)), bool))
    return jax_function(*convert_operands(x, y))
