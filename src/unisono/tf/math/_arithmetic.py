"""Arithmetic, rounding, minimum and maximum, element by element."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import as_floating, convert_operands, convert_together
from unisono.tf._tensors import as_array, is_text, to_host_tensor


@op
def add(x: Any, y: Any) -> Any:
    """`x + y`; strings are concatenated.

    >>> add([1, 2], 3).tolist()
    [4, 5]
    """
    if is_text(x) or is_text(y):
        _, (left, right) = convert_together([x, y])
        return to_host_tensor(left + right)
    return jnp.add(*convert_operands(x, y))


@op
def subtract(x: Any, y: Any) -> Any:
    """`x - y`."""
    return jnp.subtract(*convert_operands(x, y))


@op
def multiply(x: Any, y: Any) -> Any:
    """`x * y`."""
    return jnp.multiply(*convert_operands(x, y))


@op
def scalar_mul(scalar: Any, x: Any) -> Any:
    """`scalar * x` in the dtype of ``x``."""
    array = as_array(x)
    return as_array(scalar, array.dtype) * array


@op
def divide(x: Any, y: Any) -> Any:
    """`x / y`; floating-point for integers, too, as in Python."""
    return jnp.true_divide(*convert_operands(x, y))


@op
def truediv(x: Any, y: Any) -> Any:
    """`x / y`; floating-point for integers, too, as in Python."""
    return jnp.true_divide(*convert_operands(x, y))


@op
def floordiv(x: Any, y: Any) -> Any:
    """`x // y`: the quotient rounded down."""
    return jnp.floor_divide(*convert_operands(x, y))


@op
def floormod(x: Any, y: Any) -> Any:
    """`x % y`: the remainder has the sign of ``y``."""
    return jnp.mod(*convert_operands(x, y))


@op
def truncatediv(x: Any, y: Any) -> Any:
    """`x / y` rounded towards zero."""
    x, y = convert_operands(x, y)
    dtype = jnp.result_type(x, y)
    if jnp.issubdtype(dtype, jnp.integer):
        return (jnp.sign(x) * jnp.sign(y) * (jnp.abs(x) // jnp.abs(y))).astype(dtype)
    return jnp.trunc(x / y)


@op
def truncatemod(x: Any, y: Any) -> Any:
    """The remainder of :func:`truncatediv`; it has the sign of ``x``."""
    return jnp.fmod(*convert_operands(x, y))


@op
def divide_no_nan(x: Any, y: Any) -> Any:
    """`x / y`, and 0 where ``y`` is 0."""
    x, y = convert_operands(x, y)
    is_zero = y == 0
    return jnp.where(is_zero, jnp.zeros((), x.dtype), jnp.true_divide(x, jnp.where(is_zero, jnp.ones((), y.dtype), y)))


@op
def multiply_no_nan(x: Any, y: Any) -> Any:
    """`x * y`, and 0 where ``y`` is 0, even if ``x`` is NaN or infinite."""
    x, y = convert_operands(x, y)
    is_zero = y == 0
    return jnp.where(is_zero, jnp.zeros((), x.dtype), jnp.where(is_zero, jnp.ones((), x.dtype), x) * y)


@op
def reciprocal(x: Any) -> Any:
    """`1 / x`."""
    return 1 / as_floating(x)


@op
def reciprocal_no_nan(x: Any) -> Any:
    """`1 / x`, and 0 where ``x`` is 0."""
    x = as_floating(x)
    return jnp.where(x == 0, 0, 1 / jnp.where(x == 0, 1, x)).astype(x.dtype)


@op
def negative(x: Any) -> Any:
    """`-x`."""
    return jnp.negative(as_array(x))


@op
def abs(x: Any) -> Any:
    """The absolute value; the magnitude of complex numbers."""
    return jnp.abs(as_array(x))


@op
def sign(x: Any) -> Any:
    """-1, 0 or 1; `x / abs(x)` for complex numbers."""
    return jnp.sign(as_array(x))


@op
def pow(x: Any, y: Any) -> Any:
    """`x ** y`."""
    return jnp.power(*convert_operands(x, y))


@op
def square(x: Any) -> Any:
    """`x * x`."""
    return jnp.square(as_array(x))


@op
def squared_difference(x: Any, y: Any) -> Any:
    """`(x - y) * (x - y)`, with the conjugate for complex numbers."""
    x, y = convert_operands(x, y)
    difference = x - y
    return difference * jnp.conj(difference)


@op
def sqrt(x: Any) -> Any:
    """The square root."""
    return jnp.sqrt(as_floating(x))


@op
def rsqrt(x: Any) -> Any:
    """`1 / sqrt(x)`."""
    return jax.lax.rsqrt(as_floating(x))


@op
def add_n(inputs: Any) -> Any:
    """The sum of a list of tensors of the same shape.

    >>> float(add_n([1.0, 2.0, 3.5]))
    6.5
    """
    if not isinstance(inputs, list | tuple):
        return as_array(inputs)
    if not inputs:
        raise ValueError("tf.add_n: the list is empty. Expected at least one tensor.")
    _, arrays = convert_together(inputs)
    if len({tuple(array.shape) for array in arrays}) > 1:
        raise ValueError(
            f"tf.add_n: the shapes are {[tuple(array.shape) for array in arrays]}. Expected equal "
            f"shapes; write a + b to broadcast."
        )
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total


@op
def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None) -> Any:
    """The same as :func:`add_n`."""
    return add_n(inputs)


@op
def maximum(x: Any, y: Any) -> Any:
    """The larger one of `x` and `y`."""
    return jnp.maximum(*convert_operands(x, y))


@op
def minimum(x: Any, y: Any) -> Any:
    """The smaller one of `x` and `y`."""
    return jnp.minimum(*convert_operands(x, y))


@op
def round(x: Any) -> Any:
    """Rounds to the nearest integer; halves to the even one."""
    return jnp.round(as_array(x))


@op
def rint(x: Any) -> Any:
    """Rounds to the nearest integer; halves to the even one."""
    return jnp.rint(as_floating(x))


@op
def floor(x: Any) -> Any:
    """Rounds down."""
    return jnp.floor(as_floating(x))


@op
def ceil(x: Any) -> Any:
    """Rounds up."""
    return jnp.ceil(as_floating(x))


@op
def nextafter(x1: Any, x2: Any) -> Any:
    """The next representable number after ``x1`` in the direction of ``x2``."""
    return jnp.nextafter(*convert_operands(x1, x2))
