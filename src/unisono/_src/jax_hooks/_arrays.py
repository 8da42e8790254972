"""Hook: JAX's arrays and tracers have the methods of TensorFlow's tensors, for scripts that were written for these.

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1: `shape` of `ArrayImpl` and of `Tracer` is that of their `ShapedArray`,
which is interned and whose `__new__` calls `core.canonicalize_shape`; JAX itself adds methods to both classes in the
same way, and a subclass of tuple is accepted wherever a shape is.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from typing import Any, Final

import jax
import numpy as np
from jax._src import core
from jax._src.array import ArrayImpl
from jax._src.core import ShapedArray, Tracer

from unisono._src import hooks

NOT_CONCRETE = """numpy() was called inside a compiled function, where values are not there yet.
Return the value and call numpy() on the result, print it with tf.print, or wrap the code that needs NumPy in
tf.numpy_function. tf.config.run_functions_eagerly(True) makes all functions run line by line."""

_WHY: Final = "scripts call TensorFlow's methods on tensors, and tensors are JAX's arrays"

# One object per distinct shape, for as long as the process runs: shapes are few, and equal ones compare by identity.
_shapes: dict[tuple[Any, ...], Any] = {}


def install_tensor_methods(make_shape: Callable[[tuple[int, ...]], Any]) -> None:
    """Installs the hook. ``make_shape`` makes of a tuple what arrays give as their `shape`."""
    _use_shapes(make_shape)
    for kind in (ArrayImpl, Tracer):
        hooks.add(kind, "get_shape", lambda self: self.shape, why=_WHY)
        hooks.add(kind, "set_shape", _set_shape, why=_WHY)
        hooks.add(kind, "ref", lambda self: Reference(self), why=_WHY)
    hooks.add(ArrayImpl, "numpy", lambda self: np.array(self)[()], why=_WHY)  # a copy, which may be written to
    hooks.add(Tracer, "numpy", _refuse_numpy, why=_WHY)
    why = "float(x) and int(x) accept tensors of shape (1,): results of models for one row, for example"
    hooks.wrap(ArrayImpl, "__float__", _accept_one_element, expects="(self)", why=why)
    hooks.wrap(ArrayImpl, "__int__", _accept_one_element, expects="(self)", why=why)
    why = (
        "x[:, (True, False)] chooses columns as in NumPy; JAX accepts a list there, and fails on a tuple without a word"
    )
    hooks.wrap(ArrayImpl, "__getitem__", _accept_tuples_of_bools, expects="(self, idx, /)", why=why)
    hooks.wrap(Tracer, "__getitem__", _accept_tuples_of_bools, expects="(self, *args)", why=why)


def install_array_properties(properties: dict[str, property]) -> None:
    """Gives arrays and tracers properties of these names."""
    for kind in (ArrayImpl, Tracer):
        for name, each in properties.items():
            hooks.add(kind, name, each, why=_WHY)


def install_dtype_attributes(attributes: Mapping[str, property]) -> None:
    """Gives NumPy's dtypes, which are those of JAX's arrays, properties of these names.

    `array.dtype` stays JAX's own property: C code of JAX and NumPy takes only instances of `numpy.dtype`, which has no
    subclasses.
    """
    for name, each in attributes.items():
        hooks.add(np.dtype, name, each, why="scripts use attributes of TensorFlow's dtypes, as in x.dtype.is_floating")


def _use_shapes(make_shape: Callable[[tuple[int, ...]], Any]) -> None:
    """The shapes of all `ShapedArray`s are made by ``make_shape``, and so are those of arrays and tracers.

    `array.shape` stays JAX's own property: 0.07 µs as without this hook. A property that makes the shape at every
    read, as there was before, took 0.9 to 3.8 µs.
    """
    hooks.wrap(
        core,
        "canonicalize_shape",
        lambda original: lambda shape, context="": _intern(original(shape, context), make_shape),
        expects="(shape, context='')",
        why="x.shape of an array has TensorFlow's as_list(), rank and is_fully_defined()",
    )
    hooks.require(
        ShapedArray,
        "__new__",
        expects="calls canonicalize_shape",
        why="arrays of all kinds get their shape from it",
        works=lambda: type(ShapedArray((1, 1, 1, 1, 1), np.float32).shape) is not tuple,
    )
    # Those made before, which JAX keeps and uses again: `ShapedArray`s are interned.
    for each in gc.get_objects():
        if type(each) is ShapedArray:
            object.__setattr__(each, "shape", _intern(each.shape, make_shape))


def _intern(plain: tuple[Any, ...], make_shape: Callable[[tuple[int, ...]], Any]) -> Any:
    found = _shapes.get(plain)
    if found is None:
        found = make_shape(plain)
        if all(type(size) is int for size in plain):  # symbolic sizes belong to one export
            _shapes[plain] = found
    return found


def _accept_one_element(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: original(self.reshape(()) if self.ndim and self.size == 1 else self)


def _accept_tuples_of_bools(original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def get_item(self: Any, key: Any) -> Any:
        if type(key) is tuple and any(type(each) is tuple for each in key):
            key = tuple(np.array(each) if _is_tuple_of_bools(each) else each for each in key)
        return original(self, key)

    return get_item


def _is_tuple_of_bools(value: Any) -> bool:
    return type(value) is tuple and bool(value) and all(isinstance(each, bool | np.bool_) for each in value)


def uncommit(array: Any) -> Any:
    """The same array, not a copy, which may be computed with beside arrays of other devices: JAX sends it there.

    `ArrayImpl` takes the buffers of another array, and whether it is committed.
    """
    if not isinstance(array, ArrayImpl) or not array.committed or len(array.devices()) > 1:
        return array
    return ArrayImpl(array.aval, array.sharding, array._arrays, committed=False)


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


def _refuse_numpy(self: Any) -> Any:
    raise jax.errors.TracerArrayConversionError(self) from NotImplementedError(NOT_CONCRETE)
