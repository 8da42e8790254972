"""Hook: JAX's arrays and tracers have the manners of TensorFlow's tensors, for scripts that were written for these.

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1: `shape` is a property of `ArrayImpl` and of `Tracer`, JAX itself adds
methods to both classes in the same way, and a subclass of tuple serves wherever a shape is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax._src.array import ArrayImpl
from jax._src.core import Tracer

NO_NUMBERS_YET = """numpy() was called inside a compiled function, where values are not there yet.
Return the value and call numpy() on what comes back, print it with tf.print, or wrap the code that needs NumPy in
tf.numpy_function. tf.config.run_functions_eagerly(True) makes all functions run line by line."""


def install_tensor_methods(shape: Callable[[tuple[int, ...]], Any]) -> None:
    """Installs the hook. ``shape`` makes of a tuple what arrays give as their `shape`."""
    array: Any = ArrayImpl
    tracer: Any = Tracer
    for kind in (array, tracer):
        kind.shape = _shape(kind.shape, shape)
        kind.get_shape = lambda self: self.shape
        kind.set_shape = _set_shape
        kind.ref = lambda self: Reference(self)
    array.__float__ = _of_one(array.__float__)
    array.__int__ = _of_one(array.__int__)
    array.numpy = lambda self: np.array(self)[()]  # a copy, which may be written to
    tracer.numpy = _no_numbers


def add_array_properties(properties: dict[str, property]) -> None:
    """Gives arrays and tracers properties of these names."""
    for kind in (ArrayImpl, Tracer):
        for name, each in properties.items():
            setattr(kind, name, each)


def _shape(plain: Any, shape: Callable[[tuple[int, ...]], Any]) -> property:
    return property(lambda self: shape(plain.fget(self)), doc=plain.__doc__)


def _of_one(plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A conversion to Python's numbers that also takes arrays of shape (1,): results of models for one row, say."""
    return lambda self: plain(self.reshape(()) if self.ndim and self.size == 1 else self)


class Reference:
    """An array as a key of a dict: equal to another reference if both are to one array."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def deref(self) -> Any:
        """The array."""
        return self._array

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._array is self._array

    def __hash__(self) -> int:
        return id(self._array)


def _set_shape(self: Any, shape: Any) -> None:
    wanted = tuple(shape)
    if len(wanted) != self.ndim or any(want not in (None, have) for want, have in zip(wanted, self.shape, strict=True)):
        raise ValueError(
            f"set_shape({wanted}): the shape is known here, and it is {tuple(self.shape)}. If a function on the host "
            f"made it, say so there: Tout=tf.TensorSpec({wanted}, dtype)."
        )


def _no_numbers(self: Any) -> Any:
    raise jax.errors.TracerArrayConversionError(self) from NotImplementedError(NO_NUMBERS_YET)
