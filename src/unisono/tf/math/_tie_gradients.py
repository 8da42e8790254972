"""Functions whose derivatives at ties and at zero are TensorFlow's; JAX's differ there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as special

_SELU_SCALE = 1.0507009873554805
_SELU_ALPHA = 1.6732632423543772


def maximum(x: Any, y: Any) -> Any:
    """The larger one; at a tie the derivative is that of ``x``."""
    return _of_one_dtype(_maximum, jnp.maximum, x, y)


def minimum(x: Any, y: Any) -> Any:
    """The smaller one; at a tie the derivative is that of ``x``."""
    return _of_one_dtype(_minimum, jnp.minimum, x, y)


def abs(x: Any) -> Any:
    """The absolute value; the derivative at 0 is 0."""
    return _abs(x) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.abs(x)


def xlogy(x: Any, y: Any) -> Any:
    """`x * log(y)`; where ``x`` is 0, it and its derivatives are 0."""
    return _of_one_dtype(_xlogy, special.xlogy, x, y)


def xlog1py(x: Any, y: Any) -> Any:
    """`x * log1p(y)`; where ``x`` is 0, it and its derivatives are 0."""
    return _of_one_dtype(_xlog1py, special.xlog1py, x, y)


def multiply_no_nan(x: Any, y: Any) -> Any:
    """`x * y`, and 0 where ``y`` is 0; the derivative with respect to ``y`` is ``x`` there, too."""
    return _of_one_dtype(_multiply_no_nan, _multiply_unless_zero, x, y)


@jax.jit
def xdivy(x: Any, y: Any) -> Any:
    """`x / y`, and 0 where ``x`` is 0."""
    is_zero = x == 0
    return jnp.where(is_zero, jnp.zeros((), x.dtype), x / jnp.where(is_zero, jnp.ones((), y.dtype), y))


@jax.jit
def leaky_relu(x: Any, alpha: Any) -> Any:
    """The derivative at 0 is ``alpha``."""
    return jnp.where(x > 0, x, alpha * x)


@jax.jit
def selu(x: Any) -> Any:
    """The derivative at 0 is that of positive numbers."""
    # exp(x) of a large number is inf, which makes the derivative NaN although it is not chosen.
    negative = _SELU_ALPHA * jnp.expm1(jnp.where(x < 0, x, 0))
    return _SELU_SCALE * jnp.where(x < 0, negative, x)


def _of_one_dtype(function: Callable[..., Any], otherwise: Callable[..., Any], x: Any, y: Any) -> Any:
    """Calls ``function`` with operands of the same floating-point dtype, and for other numbers ``otherwise``."""
    if x.dtype != y.dtype:
        dtype = jnp.result_type(x, y)
        x, y = x.astype(dtype), y.astype(dtype)
    return (function if jnp.issubdtype(x.dtype, jnp.floating) else otherwise)(x, y)


def _with_partials(
    function: Callable[..., Any], tangent: Callable[[Any, Any, Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    """A function of two operands with this derivative: of the operands and their tangents."""
    custom = jax.custom_jvp(function)
    custom.defjvp(lambda primals, tangents: (custom(*primals), tangent(*primals, *tangents)))
    return jax.jit(custom)


def _multiply_unless_zero(x: Any, y: Any) -> Any:
    is_zero = y == 0
    product = jnp.where(is_zero, jnp.ones((), x.dtype), x) * y
    return jnp.where(is_zero, jnp.zeros((), product.dtype), product)


def _multiply_no_nan_tangent(x: Any, y: Any, dx: Any, dy: Any) -> Any:
    # A factor that is not finite has no derivative at zero: 0 * inf would be NaN.
    return y * dx + jnp.where((y == 0) & ~jnp.isfinite(x), 0, x) * dy


def _not_zero(x: Any) -> Any:
    return (x != 0).astype(x.dtype)


@jax.custom_jvp
def _abs_of_real(x: Any) -> Any:
    return jnp.abs(x)


_abs_of_real.defjvps(lambda tangent, _, x: jnp.sign(x) * tangent)
_abs = jax.jit(_abs_of_real)
_maximum = _with_partials(jnp.maximum, lambda x, y, dx, dy: jnp.where(x >= y, dx, dy))
_minimum = _with_partials(jnp.minimum, lambda x, y, dx, dy: jnp.where(x <= y, dx, dy))
_xlogy = _with_partials(special.xlogy, lambda x, y, dx, dy: xlogy(_not_zero(x), y) * dx + xdivy(x, y) * dy)
_xlog1py = _with_partials(special.xlog1py, lambda x, y, dx, dy: xlog1py(_not_zero(x), y) * dx + xdivy(x, y + 1) * dy)
_multiply_no_nan = _with_partials(_multiply_unless_zero, _multiply_no_nan_tangent)
