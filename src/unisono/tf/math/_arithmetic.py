"""Arithmetic, rounding, minimum and maximum, element by element."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._op import define_op, op
from unisono.tf._operands import as_floating, convert_operands, convert_together
from unisono.tf._tensors import as_array, is_text, to_host_tensor
from unisono.tf.math import _tie_gradients as ties

subtract = define_op("subtract", lambda x, y: jnp.subtract(*convert_operands(x, y)), "`x - y`.")
multiply = define_op("multiply", lambda x, y: jnp.multiply(*convert_operands(x, y)), "`x * y`.")
reciprocal = define_op("reciprocal", lambda x: 1 / as_floating(x), "`1 / x`.")
negative = define_op("negative", lambda x: jnp.negative(as_array(x)), "`-x`.")
abs = define_op("abs", lambda x: ties.abs(as_array(x)), "The absolute value; the magnitude of complex numbers.")
sign = define_op("sign", lambda x: jnp.sign(as_array(x)), "-1, 0 or 1; `x / abs(x)` for complex numbers.")
pow = define_op("pow", lambda x, y: jnp.power(*convert_operands(x, y)), "`x ** y`.")
square = define_op("square", lambda x: jnp.square(as_array(x)), "`x * x`.")
sqrt = define_op("sqrt", lambda x: jnp.sqrt(as_floating(x)), "The square root.")
rsqrt = define_op("rsqrt", lambda x: jax.lax.rsqrt(as_floating(x)), "`1 / sqrt(x)`.")
maximum = define_op("maximum", lambda x, y: ties.maximum(*convert_operands(x, y)), "The larger one of `x` and `y`.")
minimum = define_op("minimum", lambda x, y: ties.minimum(*convert_operands(x, y)), "The smaller one of `x` and `y`.")
floor = define_op("floor", lambda x: jnp.floor(as_floating(x)), "Rounds down.")
ceil = define_op("ceil", lambda x: jnp.ceil(as_floating(x)), "Rounds up.")
round = define_op("round", lambda x: jnp.round(as_array(x)), "Rounds to the nearest integer; halves to the even one.")
rint = define_op("rint", lambda x: jnp.rint(as_floating(x)), "Rounds to the nearest integer; halves to the even one.")
divide, truediv = (
    define_op(name, lambda x, y: jnp.true_divide(*convert_operands(x, y)), "`x / y`; floating-point results.")
    for name in ("divide", "truediv")
)
floordiv = define_op("floordiv", lambda x, y: jnp.floor_divide(*convert_operands(x, y)), "`x // y`, rounded down.")
floormod = define_op("floormod", lambda x, y: jnp.mod(*convert_operands(x, y)), "`x % y`, with the sign of y.")
truncatemod = define_op("truncatemod", lambda x, y: jnp.fmod(*convert_operands(x, y)), "The remainder of truncatediv.")


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
def scalar_mul(scalar: Any, x: Any) -> Any:
    """`scalar * x` in the dtype of ``x``."""
    array = as_array(x)
    return as_array(scalar, array.dtype) * array


@op
def truncatediv(x: Any, y: Any) -> Any:
    """`x / y` rounded towards zero."""
    x, y = convert_operands(x, y)
    dtype = jnp.result_type(x, y)
    if jnp.issubdtype(dtype, jnp.integer):
        return (jnp.sign(x) * jnp.sign(y) * (jnp.abs(x) // jnp.abs(y))).astype(dtype)
    return jnp.trunc(x / y)


@op
def divide_no_nan(x: Any, y: Any) -> Any:
    """`x / y`, and 0 where ``y`` is 0."""
    x, y = convert_operands(x, y)
    is_zero = y == 0
    return jnp.where(is_zero, jnp.zeros((), x.dtype), jnp.true_divide(x, jnp.where(is_zero, jnp.ones((), y.dtype), y)))


@op
def multiply_no_nan(x: Any, y: Any) -> Any:
    """`x * y`, and 0 where ``y`` is 0, even if ``x`` is NaN or infinite."""
    return ties.multiply_no_nan(*convert_operands(x, y))


@op
def reciprocal_no_nan(x: Any) -> Any:
    """`1 / x`, and 0 where ``x`` is 0."""
    x = as_floating(x)
    return jnp.where(x == 0, 0, 1 / jnp.where(x == 0, 1, x)).astype(x.dtype)


@op
def squared_difference(x: Any, y: Any) -> Any:
    """`(x - y) * (x - y)`, with the conjugate for complex numbers."""
    x, y = convert_operands(x, y)
    difference = x - y
    return difference * jnp.conj(difference)


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
def nextafter(x1: Any, x2: Any) -> Any:
    """The next representable number after ``x1`` in the direction of ``x2``."""
    return jnp.nextafter(*convert_operands(x1, x2))
