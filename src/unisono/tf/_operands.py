"""Converts arguments of functions of the namespace to arrays, and to static values such as shapes and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
from jax import export

from unisono._src import keras_hooks
from unisono.tf._dtypes import as_dtype, to_jax_dtype
from unisono.tf._tensors import MATCHING_KINDS, HostTensor, as_array, as_bytes, is_text, to_host_tensor

TRACED_SHAPE = """{what} depends on the values of a tensor inside a compiled function: {value}. There a size has to be
known before the function runs. Use a Python number, or tf.shape(x) of a tensor whose shape is known."""


def convert_operands(x: Any, y: Any) -> tuple[Any, Any]:
    """Converts two operands. A number of Python or NumPy takes the dtype of a tensor, as in TensorFlow."""
    if isinstance(x, jax.Array) and isinstance(y, jax.Array):
        return x, y
    for has_dtype in (_is_tensor, _has_dtype):
        if has_dtype(x) and not has_dtype(y):
            x = as_array(x)
            return x, match_dtype(y, x)
        if has_dtype(y) and not has_dtype(x):
            y = as_array(y)
            return match_dtype(x, y), y
    return as_array(x), as_array(y)


def as_floating(x: Any) -> Any:
    """Converts to an array; integers become float32."""
    array = as_array(x)
    return array if jnp.issubdtype(array.dtype, jnp.inexact) else array.astype(jnp.float32)


def static_shape(value: Any, what: str = "A shape") -> tuple[int, ...]:
    """A shape given as numbers, arrays or a mixture, as a tuple of ints."""
    if isinstance(value, jax.Array | np.ndarray | keras.Variable):
        return tuple(int(each) for each in np.atleast_1d(static_value(value, what)))
    if isinstance(value, list | tuple):
        return tuple(static_int(each, what) for each in value)
    return (static_int(value, what),)


def static_int(value: Any, what: str = "A size") -> int:
    """One size as an int. A symbolic dimension of a model under construction is returned unchanged."""
    if export.is_symbolic_dim(value):
        return value  # type: ignore[return-value]
    return int(static_value(value, what))


def static_value(value: Any, what: str) -> Any:
    """The value as a NumPy array; an error if it is known only at run time of the compiled function."""
    if isinstance(value, keras.Variable):
        value = value.value
    if isinstance(value, list | tuple):
        return np.array([static_value(each, what) for each in value])
    if isinstance(value, jax.core.Tracer):
        keras_hooks.run_on_host_if_possible(f"{what} depends on the values of a tensor")
        raise ValueError(TRACED_SHAPE.format(what=what, value=value))
    if value is None:
        raise ValueError(f"{what} is None. Expected a number.")
    return np.asarray(value)


def is_known(value: Any) -> bool:
    """Whether :func:`static_value` gives a value, of which no part is known only at run time."""
    if isinstance(value, list | tuple):
        return all(map(is_known, value))
    return not isinstance(value.value if isinstance(value, keras.Variable) else value, jax.core.Tracer)


def hide_negative(indices: Any) -> Any:
    """Indices of which negative ones are out of range: for JAX they count from the end."""
    indices = as_array(indices)
    if not jnp.issubdtype(indices.dtype, jnp.signedinteger):
        return indices
    wide = indices if indices.dtype.itemsize >= 4 else indices.astype(jnp.int32)
    return jnp.where(wide < 0, np.iinfo(wide.dtype).max, wide)


def static_axes(axis: Any) -> int | tuple[int, ...] | None:
    """An `axis` argument: None, a number, or several."""
    if axis is None:
        return None
    found = static_value(axis, "axis")
    return int(found) if found.ndim == 0 else tuple(int(each) for each in found)


def as_bytes_array(value: Any) -> np.ndarray[Any, Any]:
    """Text as an array of bytes objects."""
    if isinstance(value, jax.core.Tracer):
        keras_hooks.run_on_host_if_possible("it processes text")
    plain = np.asarray(value)
    if plain.dtype.kind not in "OSUT":
        raise TypeError(f"Expected text, got {plain.dtype} of shape {plain.shape}.")
    encoded = np.empty(plain.shape, object)
    for index in np.ndindex(plain.shape):
        encoded[index] = as_bytes(plain[index])
    return encoded


def as_text_or_array(value: Any) -> Any:
    """Converts an operand of a function that only moves values: text becomes a NumPy array, numbers a JAX array."""
    return as_bytes_array(value) if is_text(value) else as_array(value)


def wrap_host_result(value: Any) -> Any:
    """Converts the result of a function that only moves values: NumPy arrays become HostTensors."""
    return to_host_tensor(value) if isinstance(value, np.ndarray) and not isinstance(value, HostTensor) else value


def array_module(*values: Any) -> Any:
    """`numpy` for NumPy arrays (text), `jax.numpy` for other values."""
    return np if any(isinstance(value, np.ndarray) for value in values) else jnp


def convert_together(values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Converts several values to arrays of one kind; also returns the module, `numpy` or `jax.numpy`, for them.

    Python numbers take the dtype of the first value that has one.
    """
    if any(map(is_text, values)):
        return np, [as_bytes_array(value) for value in values]
    given = [as_array(value) for value in values if _has_dtype(value)]
    if not given or len(given) == len(values):
        return jnp, [as_array(value) for value in values]
    return jnp, [as_array(value) if _has_dtype(value) else match_dtype(value, given[0]) for value in values]


def jax_dtype_or(dtype: Any, default: Any) -> np.dtype[Any]:
    """The requested dtype, or the default, as JAX's dtype."""
    return to_jax_dtype(default if dtype is None else dtype)


def _has_dtype(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_dtype, value))
    return hasattr(value, "dtype")


def _is_tensor(value: Any) -> bool:
    """Whether it has a dtype that stays: NumPy's values take the dtype of the tensor they are combined with."""
    if isinstance(value, list | tuple):
        return any(map(_is_tensor, value))
    return hasattr(value, "dtype") and type(value) is not np.ndarray and not isinstance(value, np.generic)


def match_list(values: Any, array: Any) -> Any:
    """Converts a list or NumPy's values to an operand of ``array``: numbers take its dtype."""
    if isinstance(values, np.ndarray | np.generic):
        return values.astype(array.dtype) if values.dtype.kind in MATCHING_KINDS.get(array.dtype.kind, "") else values
    return as_array(values) if _is_tensor(values) else match_dtype(values, array)


def match_dtype(value: Any, array: Any) -> Any:
    """Converts Python numbers to the dtype of ``array`` where nothing is lost."""
    if type(value) is float and array.dtype.kind == "f":
        return array.dtype.type(value)
    plain = np.asarray(value)
    fits = (
        (plain.dtype.kind == "b" and array.dtype == bool)
        or (plain.dtype.kind in "iu" and array.dtype != bool)
        or (plain.dtype.kind == "f" and as_dtype(array.dtype).is_floating)
        or as_dtype(array.dtype).is_complex
    )
    return as_array(value, array.dtype if fits else None)
