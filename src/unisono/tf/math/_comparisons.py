"""Comparisons, logical operations and tests for NaN and infinity, element by element; tests for sorted values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf._op import define_op, op
from unisono.tf._operands import as_bytes_array, convert_operands
from unisono.tf._tensors import as_array, is_text, to_host_tensor

equal = define_op("equal", lambda x, y: _compare(x, y, np.equal, jnp.equal), "`x == y`; also strings.")
less = define_op("less", lambda x, y: jnp.less(*convert_operands(x, y)), "`x < y`.")
less_equal = define_op("less_equal", lambda x, y: jnp.less_equal(*convert_operands(x, y)), "`x <= y`.")
greater = define_op("greater", lambda x, y: jnp.greater(*convert_operands(x, y)), "`x > y`.")
greater_equal = define_op("greater_equal", lambda x, y: jnp.greater_equal(*convert_operands(x, y)), "`x >= y`.")
logical_not = define_op("logical_not", lambda x: jnp.logical_not(as_array(x)), "`not x`.")
is_nan = define_op("is_nan", lambda x: jnp.isnan(as_array(x)), "Whether it is NaN.")
is_inf = define_op("is_inf", lambda x: jnp.isinf(as_array(x)), "Whether it is infinite.")
logical_and = define_op("logical_and", lambda x, y: jnp.logical_and(as_array(x), as_array(y)), "`x and y`.")
logical_or = define_op("logical_or", lambda x, y: jnp.logical_or(as_array(x), as_array(y)), "`x or y`.")
logical_xor = define_op("logical_xor", lambda x, y: jnp.logical_xor(as_array(x), as_array(y)), "Exclusive or.")
is_finite = define_op("is_finite", lambda x: jnp.isfinite(as_array(x)), "Whether it is neither NaN nor infinite.")
not_equal = define_op("not_equal", lambda x, y: _compare(x, y, np.not_equal, jnp.not_equal), "`x != y`; also strings.")


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
