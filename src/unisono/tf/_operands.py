"""What functions of the namespace are given, made into what JAX computes with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
from jax import export

from unisono.tf._dtypes import as_dtype, for_jax
from unisono.tf._tensors import HostTensor, as_array, as_bytes, is_text, on_host

TRACED_SHAPE = """{what} depends on the values of a tensor inside of a compiled function: {value}. There a size has to
be known before the function runs. Use a Python number, or tf.shape(x) of a tensor whose shape is known."""


def operands(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands. A number of Python takes the dtype of the other one, as in TensorFlow."""
    if isinstance(x, jax.Array) and isinstance(y, jax.Array):
        return x, y
    if _has_dtype(x) and not _has_dtype(y):
        x = as_array(x)
        return x, _like(y, x)
    if _has_dtype(y) and not _has_dtype(x):
        y = as_array(y)
        return _like(x, y), y
    return as_array(x), as_array(y)


def floating(x: Any) -> Any:
    """An operand of a function that has no result in whole numbers."""
    array = as_array(x)
    return array if jnp.issubdtype(array.dtype, jnp.inexact) else array.astype(jnp.float32)


def sizes(value: Any, what: str = "A shape") -> tuple[int, ...]:
    """A shape, of numbers, arrays or a mixture, as a tuple of numbers."""
    if isinstance(value, jax.Array | np.ndarray | keras.Variable):
        return tuple(int(each) for each in np.atleast_1d(known(value, what)))
    if isinstance(value, list | tuple):
        return tuple(whole(each, what) for each in value)
    return (whole(value, what),)


def whole(value: Any, what: str = "A size") -> int:
    """One number of a shape. That of a model that is being made may be of any size: it is kept as JAX writes it."""
    if export.is_symbolic_dim(value):
        return value  # type: ignore[return-value]
    return int(known(value, what))


def known(value: Any, what: str) -> Any:
    """The value as a NumPy array; an error if it is only known when the compiled function runs."""
    if isinstance(value, keras.Variable):
        value = value.value
    if isinstance(value, list | tuple):
        return np.array([known(each, what) for each in value])
    if isinstance(value, jax.core.Tracer):
        raise ValueError(TRACED_SHAPE.format(what=what, value=value))
    if value is None:
        raise ValueError(f"{what} is None, where a number was expected.")
    return np.asarray(value)


def axes(axis: Any) -> int | tuple[int, ...] | None:
    """An `axis` argument: None, a number, or several."""
    if axis is None:
        return None
    found = known(axis, "axis")
    return int(found) if found.ndim == 0 else tuple(int(each) for each in found)


def text(value: Any) -> np.ndarray[Any, Any]:
    """Text as an array of bytes objects."""
    plain = np.asarray(value)
    if plain.dtype.kind not in "OSUT":
        raise TypeError(f"Expected text, got {plain.dtype} of shape {plain.shape}.")
    encoded = np.empty(plain.shape, object)
    for index in np.ndindex(plain.shape):
        encoded[index] = as_bytes(plain[index])
    return encoded


def text_or_array(value: Any) -> Any:
    """An operand of a function that moves values and does not look at them: text stays NumPy's."""
    return text(value) if is_text(value) else as_array(value)


def result(value: Any) -> Any:
    """What a function that moves values returns: NumPy's arrays become tensors of the host."""
    return on_host(value) if isinstance(value, np.ndarray) and not isinstance(value, HostTensor) else value


def library(*values: Any) -> Any:
    """`numpy` for text, `jax.numpy` for numbers."""
    return np if any(isinstance(value, np.ndarray) for value in values) else jnp


def together(values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Several values of one kind, with the library that moves them. Python's numbers take the dtype of the others."""
    if any(map(is_text, values)):
        return np, [text(value) for value in values]
    given = [as_array(value) for value in values if _has_dtype(value)]
    if not given or len(given) == len(values):
        return jnp, [as_array(value) for value in values]
    return jnp, [as_array(value) if _has_dtype(value) else _like(value, given[0]) for value in values]


def dtype_or(dtype: Any, default: Any) -> np.dtype[Any]:
    """The dtype that was asked for, or the default, as JAX has it."""
    return for_jax(default if dtype is None else dtype)


def _has_dtype(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_dtype, value))
    return hasattr(value, "dtype")


def _like(value: Any, array: Any) -> Any:
    """Python's numbers in the dtype of ``array``, where nothing of them is lost."""
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
