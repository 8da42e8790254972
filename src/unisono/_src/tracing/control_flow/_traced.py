"""Which values are known only when a compiled program runs."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import keras

from unisono._src.tracing.control_flow._errors import Place

NO_TRUTH = """The condition is an array of shape {shape}: it is neither true nor false as a whole. Write
    tf.reduce_all(condition)   or   tf.reduce_any(condition)
and for a choice element by element
    tf.where(condition, a, b)"""

_MAY_BE: Final = (jax.core.Tracer, keras.Variable)


def is_traced(value: Any) -> bool:
    """Whether Python cannot know the number behind ``value``, an array or a variable, because it is not there yet."""
    if not isinstance(value, _MAY_BE):
        return False
    array = array_of(value)
    return isinstance(array, jax.core.Tracer) and array.to_concrete_value() is None


def array_of(value: Any) -> Any:
    """The value of a variable; anything else as it is."""
    return value.value if isinstance(value, keras.Variable) else value


def truth(value: Any, place: Place) -> Any:
    """A traced value as a condition: one bool. Numbers are true if they are not zero, as in Python."""
    array = jnp.asarray(array_of(value))
    if array.size != 1:
        raise place.error(NO_TRUTH.format(shape=tuple(array.shape)))
    array = array.reshape(())
    return array if array.dtype == bool else array != 0
