"""`tf.function`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import unisono._src.tracing.control_flow as control_flow
from unisono._src.tracing.functions import function as compile_function


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    **options: Any,
) -> Any:
    """`unisono.function`, in which Python's `if`, `while` and `for` may depend on tensors (docs/control-flow.md).

    TensorFlow's other options are accepted and change nothing: everything is compiled.

    >>> @function
    ... def larger(a, b):
    ...     if a > b:
    ...         return a
    ...     return b
    """

    def decorate(python_function: Callable[..., Any]) -> Any:
        converted = control_flow.convert(python_function) if autograph else python_function
        return compile_function(converted, input_signature=input_signature, **options)

    return decorate if func is None else decorate(func)
