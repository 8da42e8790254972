"""What has to be true of numbers. It is checked at once where they are there; inside a compiled function the check runs
with it, and stops the program.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._operands import as_text_or_array, convert_operands
from unisono.tf._print import formatted
from unisono.tf._tensors import as_array, is_text
from unisono.tf.debugging._static_assertions import message_prefix
from unisono.tf.errors import InvalidArgumentError


def Assert(condition: Any, data: Any, summarize: int = 3, name: Any = None) -> None:  # noqa: N802
    """Raises InvalidArgumentError with ``data`` unless the condition holds."""
    _check(condition, "tf.debugging.Assert: the condition does not hold", None, data, summarize)


def assert_equal(x: Any, y: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises unless all pairs are equal."""
    if is_text(x) or is_text(y):
        _check(
            bool(np.all(as_text_or_array(x) == as_text_or_array(y))), "x == y does not hold", message, [x, y], summarize
        )
        return
    _compare(operator.eq, "==", x, y, message, summarize)


def assert_none_equal(x: Any, y: Any, summarize: int = 3, message: Any = None, name: Any = None) -> None:
    """Raises if a pair is equal."""
    _compare(operator.ne, "!=", x, y, message, summarize)


def assert_less(x: Any, y: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises unless `x < y` for all pairs."""
    _compare(operator.lt, "<", x, y, message, summarize)


def assert_less_equal(x: Any, y: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises unless `x <= y` for all pairs."""
    _compare(operator.le, "<=", x, y, message, summarize)


def assert_greater(x: Any, y: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises unless `x > y` for all pairs."""
    _compare(operator.gt, ">", x, y, message, summarize)


def assert_greater_equal(x: Any, y: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises unless `x >= y` for all pairs."""
    _compare(operator.ge, ">=", x, y, message, summarize)


def assert_positive(x: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises unless all numbers are larger than 0."""
    _compare(operator.gt, ">", x, 0, message, summarize)


def assert_negative(x: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises unless all numbers are smaller than 0."""
    _compare(operator.lt, "<", x, 0, message, summarize)


def assert_non_negative(x: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises unless all numbers are 0 or larger."""
    _compare(operator.ge, ">=", x, 0, message, summarize)


def assert_non_positive(x: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises unless all numbers are 0 or smaller."""
    _compare(operator.le, "<=", x, 0, message, summarize)


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, message: Any = None, summarize: int = 3, name: Any = None
) -> None:
    """Raises unless `abs(x - y) <= atol + rtol * abs(y)` for all pairs."""
    x, y = convert_operands(x, y)
    step = 10 * float(jnp.finfo(x.dtype).eps) if jnp.issubdtype(x.dtype, jnp.floating) else 0.0  # type: ignore[no-untyped-call]
    rtol, atol = (step if each is None else each for each in (rtol, atol))
    near = jnp.abs(x - y) <= atol + rtol * jnp.abs(y)
    _check(jnp.all(near), "x and y are not equal to the tolerance", message, [x, y], summarize)


def assert_all_finite(x: Any, message: Any, name: Any = None) -> Any:
    """The tensor; raises if a number is infinite or none."""
    array = as_array(x)
    _check(jnp.all(jnp.isfinite(array)), "Tensor had NaN or Inf values", message, [array], 3)
    return array


def check_numerics(tensor: Any, message: Any, name: Any = None) -> Any:
    """The tensor; raises if a number is infinite or none."""
    return assert_all_finite(tensor, message)


def _compare(holds: Callable[..., Any], sign: str, x: Any, y: Any, message: Any, summarize: int) -> None:
    x, y = convert_operands(x, y)
    _check(jnp.all(holds(x, y)), f"x {sign} y does not hold for all numbers", message, [x, y], summarize)


def _check(condition: Any, what: str, message: Any, data: Any, summarize: int) -> None:
    shown = list(data) if isinstance(data, list | tuple) else [data]

    def fail(*values: Any) -> NoReturn:
        texts = [
            formatted(value, summarize) if isinstance(value, np.ndarray | jax.Array) else str(value) for value in values
        ]
        raise InvalidArgumentError(None, None, f"{message_prefix(message)}{what}: {' and '.join(texts)}")

    if not isinstance(condition, jax.core.Tracer):
        if not bool(np.all(condition)):
            fail(*shown)
        return
    places = [place for place, value in enumerate(shown) if isinstance(value, jax.Array)]

    def checked(condition: Any, *arrays: Any) -> None:
        if not bool(np.all(condition)):
            values = list(shown)
            for place, array in zip(places, arrays, strict=True):
                values[place] = np.asarray(array)
            fail(*values)

    jax.debug.callback(checked, condition, *(shown[place] for place in places))
