"""Tensors: JAX arrays for numbers, :class:`HostTensor` for text and for elements of datasets."""

from __future__ import annotations

import functools
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src import jax_hooks
from unisono._src.replicas.values import PerReplica
from unisono.tf._composite import CompositeTensor
from unisono.tf._dtypes import DType, as_dtype, string, to_jax_dtype
from unisono.tf._shape import TensorShape

PER_REPLICA = """A per-replica value cannot be used as one tensor here. Use it inside the function that `strategy.run`
calls, combine it with `strategy.reduce` or `strategy.gather`, or split it with
`strategy.experimental_local_results`."""

NOT_DENSE = "{kind}: an object of this type cannot be converted to a dense tensor here. {advice}"

TRUNCATED = """{value} cannot become a tensor of {dtype}: its fractions would be lost. Write
    tf.cast(value, tf.{dtype})"""

_TEXT_KINDS: Final = "OSUT"

# By the kind of a tensor's dtype, the kinds of numbers that take this dtype when they are combined with it.
MATCHING_KINDS: Final = {"f": "iuf", "V": "iuf", "i": "iu", "u": "iu", "c": "iufc"}
_MATCHED: Final = frozenset([list, tuple, np.ndarray, np.float64, np.int64])


class HostTensor(np.ndarray[Any, Any]):
    """A NumPy array with the methods of a tensor: text, or an element of a dataset."""

    def __array_finalize__(self, source: Any) -> None:
        pass

    @property  # type: ignore[misc]
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape(np.ndarray.shape.__get__(self))

    def numpy(self) -> Any:
        """The array, or the scalar. Text becomes bytes, as in TensorFlow."""
        plain = self.view(np.ndarray)
        return (_encode_all(plain) if plain.dtype.kind in _TEXT_KINDS else plain)[()]

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raises ValueError if the shape is not compatible with this one."""
        self.shape.assert_is_compatible_with(shape)

    def ref(self) -> jax_hooks.Reference:
        """A hashable reference to this array."""
        return jax_hooks.Reference(self)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return np.asarray(array).view(HostTensor)

    def __repr__(self) -> str:
        if self._is_all_text():
            return f"<tf.Tensor: shape={self.shape}, dtype=string, numpy={self.numpy()!r}>"
        return repr(self.view(np.ndarray)).replace("array", "Tensor", 1)

    def __str__(self) -> str:
        if self._is_all_text():
            return f"tf.Tensor({self.numpy()}, shape={self.shape}, dtype=string)"
        return str(self.view(np.ndarray))

    def _is_all_text(self) -> bool:
        plain = self.view(np.ndarray)
        if plain.dtype.kind == "O":
            return all(isinstance(each, str | bytes) for each in plain.flat)
        return plain.dtype.kind in _TEXT_KINDS

    def __format__(self, spec: str) -> str:
        return format(self.numpy() if self.ndim == 0 else np.asarray(self), spec)

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, np.ndarray):
            return found
        # A scalar is a tensor as well, as in TensorFlow. With `...` NumPy returns an array.
        return super().__getitem__((*key, ...) if isinstance(key, tuple) else (key, ...))

    def __iter__(self) -> Any:
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: Any) -> Any:
        # One side may be bytes and the other str.
        if self.dtype.kind in _TEXT_KINDS and is_text(other):
            return to_host_tensor(np.equal(_encode_all(np.asarray(self)), _encode_all(np.asarray(other))))
        return super().__eq__(other)

    def __ne__(self, other: Any) -> Any:
        if self.dtype.kind in _TEXT_KINDS and is_text(other):
            return to_host_tensor(np.logical_not(self == other))
        return super().__ne__(other)

    def _match_list(self, numbers: Any) -> Any:
        """Numbers in a list or of NumPy take the dtype of the tensor, as one of Python: NumPy would give float64."""
        found = np.asarray(numbers)
        return found.astype(self.dtype) if found.dtype.kind in MATCHING_KINDS.get(self.dtype.kind, "") else found

    def __hash__(self) -> int:  # type: ignore[override]
        raise TypeError("Tensors cannot be keys of dicts and sets. Use tensor.ref() instead.")

    def __reduce__(self) -> Any:
        return to_host_tensor, (np.asarray(self),)


def _accept_list(operator: Any) -> Any:
    @functools.wraps(operator)
    def operate(self: HostTensor, other: Any) -> Any:
        return operator(self, self._match_list(other) if type(other) in _MATCHED else other)

    return operate


def _divide_small_integers(operator: Any) -> Any:
    """Quotients of integers of up to 16 bits are float32, as in TensorFlow. NumPy gives float64 or float16."""

    @functools.wraps(operator)
    def divide(self: HostTensor, other: Any) -> Any:
        is_small = self.dtype.kind in "iu" and self.dtype.itemsize <= 2
        dtype = np.asarray(other).dtype if type(other) in _MATCHED else getattr(other, "dtype", None)
        by_integer = type(other) is int or getattr(dtype, "kind", "") in ("i", "u")
        return operator(self.astype(np.float32) if is_small and by_integer else self, other)

    return divide


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    for _method in (f"__{_name}__", f"__r{_name}__"):
        setattr(HostTensor, _method, _accept_list(getattr(np.ndarray, _method)))
for _method in ("__truediv__", "__rtruediv__"):
    setattr(HostTensor, _method, _divide_small_integers(getattr(HostTensor, _method)))


class _TensorMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, jax.Array | HostTensor)


class Tensor(metaclass=_TensorMeta):
    """For `isinstance(value, tf.Tensor)`: a JAX array, traced or concrete, or a HostTensor.

    Create one with `tf.constant` or `tf.convert_to_tensor`.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("tf.Tensor cannot be called. Use tf.constant(value) or tf.convert_to_tensor(value).")


def to_host_tensor(value: Any) -> HostTensor:
    """Converts to an array that stays on the host."""
    if not isinstance(value, np.ndarray | np.generic) and is_text(value):
        return np.asarray(value, object).view(HostTensor)  # NumPy's bytes dtype drops trailing zeros
    return np.asarray(value).view(HostTensor)


def as_bytes(text: Any) -> bytes:
    """Encodes text as UTF-8."""
    return text.encode() if isinstance(text, str) else bytes(text)


def _encode_all(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Encodes every element of an array of text."""
    encoded = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        encoded[index] = as_bytes(array[index])
    return encoded


def is_text(value: Any) -> bool:
    """Whether a value, or an element of a nested list, is text."""
    if isinstance(value, str | bytes):
        return True
    if isinstance(value, list | tuple):
        return any(is_text(each) for each in value)
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in _TEXT_KINDS


def as_array(value: Any, dtype: Any = None) -> Any:
    """Converts a numeric value to a JAX array, as functions of the namespace do with their operands.

    Python numbers become 32 bits wide, as in TensorFlow; arrays keep their dtype.
    """
    if dtype is None and isinstance(value, jax.Array):
        return value
    if isinstance(value, PerReplica):
        raise TypeError(PER_REPLICA)
    if isinstance(value, CompositeTensor):
        raise TypeError(NOT_DENSE.format(kind=type(value).__name__, advice=value.dense_advice))
    if isinstance(value, keras.Variable):
        value = value.value
    if dtype is None and not isinstance(value, jax.Array | np.ndarray | np.generic):
        dtype = _infer_dtype(value)
    if isinstance(value, list | tuple) and any(isinstance(leaf, jax.Array | keras.Variable) for leaf in _leaves(value)):
        return jnp.stack([as_array(each, dtype) for each in value])
    wanted = None if dtype is None else to_jax_dtype(dtype)
    if wanted is None and isinstance(value, np.ndarray | np.generic):
        wanted = to_jax_dtype(value.dtype)
    return jnp.asarray(value, wanted)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """Creates a tensor of numbers or text; a scalar fills ``shape``.

    >>> constant([[1, 2], [3, 4]]).shape
    TensorShape([2, 2])
    """
    tensor = convert_to_tensor(value, dtype)
    if shape is None or tensor.shape == tuple(shape):
        return tensor
    if tensor.size == 1:
        filled = np.full(tuple(shape), np.asarray(tensor).item()) if isinstance(tensor, HostTensor) else None
        return jnp.broadcast_to(tensor.reshape(()), tuple(shape)) if filled is None else to_host_tensor(filled)
    return tensor.reshape(tuple(shape))


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None, **_: Any) -> Any:
    """Converts a value to a tensor."""
    if (dtype is not None and as_dtype(dtype) == string) or (dtype is None and is_text(value)):
        if isinstance(value, list | tuple):
            value = np.asarray(value, object)  # also without any text in it
        return value if isinstance(value, HostTensor) else to_host_tensor(value)
    if dtype is not None:
        refuse_truncation(value, dtype)
    return as_array(value, dtype)


def refuse_truncation(value: Any, dtype: Any) -> None:
    """Raises TypeError for floats as integers. Numbers and arrays of NumPy are converted, as in TensorFlow."""
    wanted = as_dtype(dtype)
    if not wanted.is_integer:
        return
    for leaf in _leaves([value]):
        is_float = isinstance(leaf, float) and not isinstance(leaf, np.generic)  # np.float64 is a subclass
        has_dtype = isinstance(leaf, jax.Array | keras.Variable)
        if is_float or (has_dtype and as_dtype(leaf.dtype).is_floating):
            raise TypeError(TRUNCATED.format(value=f"{leaf!r}", dtype=wanted.name))


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor or a variable; False for Python numbers and NumPy arrays."""
    return isinstance(x, Tensor | keras.Variable | PerReplica | keras.KerasTensor | CompositeTensor)


def _leaves(value: Any) -> list[Any]:
    return [leaf for each in value for leaf in (_leaves(each) if isinstance(each, list | tuple) else [each])]


def _infer_dtype(value: Any) -> DType | None:
    """The dtype of Python numbers: 32 bits. None if a leaf has a dtype of its own."""
    leaves = _leaves(value) if isinstance(value, list | tuple) else [value]
    if any(isinstance(leaf, jax.Array | np.ndarray | np.generic | keras.Variable) for leaf in leaves):
        return None
    found = np.asarray(value)
    if found.dtype.kind == "f" or not leaves:
        return as_dtype("float32")
    if found.dtype.kind in "iu":
        fits = found.size == 0 or (found.min() >= -(2**31) and found.max() < 2**31)
        return as_dtype("int32" if fits else "int64")
    return as_dtype(found.dtype)
