"""`tf.function`, and functions that stay Python inside of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import unisono._src.tracing.control_flow as control_flow
from unisono._src.tracing.functions import function as compiled


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    **options: Any,
) -> Any:
    """`unisono.function`; Python's `if`, `while` and `for` may look at tensors (docs/control-flow.md).

    The other options of TensorFlow's are taken and change nothing: everything is compiled.

    >>> @function
    ... def larger(a, b):
    ...     if a > b:
    ...         return a
    ...     return b
    """

    def decorated(python_function: Callable[..., Any]) -> Any:
        converted = control_flow.convert(python_function) if autograph else python_function
        return compiled(converted, input_signature=input_signature, **options)

    return decorated if func is None else decorated(func)
