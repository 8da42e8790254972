"""Assertions about values. Concrete values are checked at once. In a compiled function the check runs with it, in a
callback, and stops the program.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._operands import as_text_or_array, convert_operands
from unisono.tf._print import format_tensor
from unisono.tf._tensors import is_text
from unisono.tf.debugging._static_assertions import message_prefix
from unisono.tf.errors import InvalidArgumentError


def Assert(condition: Any, data: Any, summarize: int = 3, name: Any = None) -> None:  # noqa: N802
    """Raises InvalidArgumentError with ``data`` in its message unless the condition is true."""
    check(condition, "tf.debugging.Assert: the condition is false", None, data, summarize)


def assert_equal(x: Any, y: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises InvalidArgumentError unless `x == y` for all elements."""
    if is_text(x) or is_text(y):
        check(bool(np.all(as_text_or_array(x) == as_text_or_array(y))), "x == y is false", message, [x, y], summarize)
        return
    _compare(operator.eq, "==", x, y, message, summarize)


def assert_none_equal(x: Any, y: Any, summarize: int = 3, message: Any = None, name: Any = None) -> None:
    """Raises InvalidArgumentError unless `x != y` for all elements."""
    _compare(operator.ne, "!=", x, y, message, summarize)


def assert_less(x: Any, y: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises InvalidArgumentError unless `x < y` for all elements."""
    _compare(operator.lt, "<", x, y, message, summarize)


def assert_less_equal(x: Any, y: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises InvalidArgumentError unless `x <= y` for all elements."""
    _compare(operator.le, "<=", x, y, message, summarize)


def assert_greater(x: Any, y: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises InvalidArgumentError unless `x > y` for all elements."""
    _compare(operator.gt, ">", x, y, message, summarize)


def assert_greater_equal(x: Any, y: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises InvalidArgumentError unless `x >= y` for all elements."""
    _compare(operator.ge, ">=", x, y, message, summarize)


def assert_positive(x: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises InvalidArgumentError unless `x > 0` for all elements."""
    _compare(operator.gt, ">", x, 0, message, summarize)


def assert_negative(x: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises InvalidArgumentError unless `x < 0` for all elements."""
    _compare(operator.lt, "<", x, 0, message, summarize)


def assert_non_negative(x: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises InvalidArgumentError unless `x >= 0` for all elements."""
    _compare(operator.ge, ">=", x, 0, message, summarize)


def assert_non_positive(x: Any, message: Any = None, summarize: int = 3, name: Any = None) -> None:
    """Raises InvalidArgumentError unless `x <= 0` for all elements."""
    _compare(operator.le, "<=", x, 0, message, summarize)


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, message: Any = None, summarize: int = 3, name: Any = None
) -> None:
    """Raises InvalidArgumentError unless `abs(x - y) <= atol + rtol * abs(y)` for all elements."""
    x, y = convert_operands(x, y)
    default = 10 * float(jnp.finfo(x.dtype).eps) if jnp.issubdtype(x.dtype, jnp.floating) else 0.0  # type: ignore[no-untyped-call]
    rtol, atol = (default if each is None else each for each in (rtol, atol))
    near = jnp.abs(x - y) <= atol + rtol * jnp.abs(y)
    check(jnp.all(near), "x and y are not equal within the tolerance", message, [x, y], summarize)


def _compare(compare: Callable[..., Any], sign: str, x: Any, y: Any, message: Any, summarize: int) -> None:
    x, y = convert_operands(x, y)
    check(jnp.all(compare(x, y)), f"x {sign} y is not true for all elements", message, [x, y], summarize)


def check(condition: Any, reason: str, message: Any, data: Any, summarize: int) -> None:
    """Raises InvalidArgumentError with the user's ``message``, ``reason`` and ``data`` unless ``condition`` is true."""
    shown = list(data) if isinstance(data, list | tuple) else [data]

    def fail(*values: Any) -> NoReturn:
        texts = [
            format_tensor(value, summarize) if isinstance(value, np.ndarray | jax.Array) else str(value)
            for value in values
        ]
        raise InvalidArgumentError(None, None, f"{message_prefix(message)}{reason}: {' and '.join(texts)}")

    if not isinstance(condition, jax.core.Tracer):
        if not bool(np.all(condition)):
            fail(*shown)
        return
    array_indices = [index for index, value in enumerate(shown) if isinstance(value, jax.Array)]

    def check_at_run_time(condition: Any, *arrays: Any) -> None:
        if not bool(np.all(condition)):
            values = list(shown)
            for index, array in zip(array_indices, arrays, strict=True):
                values[index] = np.asarray(array)
            fail(*values)

    jax.debug.callback(check_at_run_time, condition, *(shown[index] for index in array_indices))
