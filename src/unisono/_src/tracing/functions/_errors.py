"""Turns JAX's errors about traced values into errors that say what to write instead."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import jax

from unisono._src.core import Override

NO_NUMBER_YET = """{function} is compiled: its values are computed later, so Python cannot read them now.
{reason}

For a choice, write
    keras.ops.cond(x > 0, lambda: a, lambda: b)      instead of   if x > 0: ...
    keras.ops.where(x > 0, a, b)                     for numbers
for a loop
    keras.ops.while_loop(lambda i: i < n, body, [i]) instead of   while i < n: ...
    keras.ops.fori_loop(0, n, body, start)           instead of   for i in range(n): ...
and return what you want to print or to convert to a Python number. To inspect every value while debugging, call
unisono.run_functions_eagerly(True)."""

LEAKED = """{function} uses a value outside the part in which it was computed: a branch, the body of a loop,
or another function that is compiled. Such a part is traced separately, and its values leave it only as its results.
This one was stored in an attribute, a list or a global name.
{reason}

Return the value from that part, bind it to a name of the function in both branches, or assign it to a variable."""


class TracedValueError(TypeError):
    """Python code needs the number behind a traced value of a function that is being compiled."""


class StoredValueError(TracedValueError, AttributeError):
    """`numpy()` of a traced value that was stored: TensorFlow's tensors of graphs have no such attribute."""


argument_error: Final[Override[Callable[[str], Exception]]] = Override(TypeError)
"""What is raised for an argument that does not fit the signature of a concrete function."""


@contextlib.contextmanager
def explain_errors(function: Callable[..., Any]) -> Iterator[None]:
    """Turns JAX's errors about traced values into a :class:`TracedValueError`."""
    try:
        yield
    except (
        jax.errors.ConcretizationTypeError,
        jax.errors.TracerArrayConversionError,
        jax.errors.TracerIntegerConversionError,
    ) as error:
        name = getattr(function, "__qualname__", repr(function))
        reason = str(error).splitlines()[0]
        raise TracedValueError(NO_NUMBER_YET.format(function=name, reason=reason)) from error
    except jax.errors.UnexpectedTracerError as error:
        name = getattr(function, "__qualname__", repr(function))
        reason = next((line for line in str(error).splitlines() if "was created on line" in line), "")
        raise TracedValueError(LEAKED.format(function=name, reason=reason.strip())) from error
