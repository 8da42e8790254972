"""Traced values: those that are known only when the compiled program runs."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import keras

from unisono._src.tracing.control_flow._errors import SourceLocation

NOT_ONE_BOOL = """The condition is an array of shape {shape}: it is neither true nor false as a whole. Write
    tf.reduce_all(condition)   or   tf.reduce_any(condition)
and for a choice element by element
    tf.where(condition, a, b)"""

_POSSIBLY_TRACED: Final = (jax.core.Tracer, keras.Variable)


def is_traced(value: Any) -> bool:
    """Whether ``value``, an array or a variable, has a value only when the program runs."""
    if not isinstance(value, _POSSIBLY_TRACED):
        return False
    array = as_array(value)
    return isinstance(array, jax.core.Tracer) and array.to_concrete_value() is None


def as_array(value: Any) -> Any:
    """The value of a variable; anything else unchanged."""
    return value.value if isinstance(value, keras.Variable) else value


def as_condition(value: Any, location: SourceLocation) -> Any:
    """A traced value as a condition: one bool. Numbers are true if they are not zero, as in Python."""
    array = jnp.asarray(as_array(value))
    if array.size != 1:
        raise location.error(NOT_ONE_BOOL.format(shape=tuple(array.shape)))
    array = array.reshape(())
    return array if array.dtype == bool else array != 0
