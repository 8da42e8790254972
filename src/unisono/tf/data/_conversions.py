"""Converts what users pass to datasets (Python numbers become 32 bits wide) and what they get (tensors on the host)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, cast

import jax
import keras
import numpy as np

from unisono._src.data.plans import CompositeLeaf, Nest, flatten, is_dataset, map_leaves
from unisono._src.tracing import control_flow
from unisono.tf._composite import CompositeTensor
from unisono.tf._dtypes import int64
from unisono.tf._operands import as_bytes_array
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import HostTensor, as_array, convert_to_tensor, is_text, to_host_tensor

NOT_DENSE = """{call}: a {kind} cannot be in a dataset. Pass a dense array, or a tf.SparseTensor of its coordinates."""

_INT32_MIN, _INT32_MAX = np.iinfo(np.int32).min, np.iinfo(np.int32).max


class Cardinality(int):
    """A number of elements, with the methods of a tensor.

    >>> Cardinality(3).numpy(), Cardinality(3) == 3
    (np.int64(3), True)
    """

    dtype = int64
    shape = TensorShape(())

    def numpy(self) -> np.int64:
        """The number as a NumPy scalar."""
        return np.int64(self)


def to_arrays(nest: Nest, call: str) -> Nest:
    """Converts leaves to arrays for a dataset. As in TensorFlow a list is one array, Python numbers have 32 bits."""

    def to_array(leaf: Any) -> Any:
        if isinstance(leaf, CompositeTensor):
            return leaf.to_host()
        kind = type(leaf).__name__
        if kind == "BCOO" or hasattr(leaf, "toarray"):
            raise TypeError(NOT_DENSE.format(call=call, kind=kind))
        if isinstance(leaf, keras.Variable):
            return leaf.value
        if isinstance(leaf, list | int | float | complex) and not is_text(leaf):
            return to_32_bit_array(leaf)
        return np.asarray(leaf) if isinstance(leaf, HostTensor) else leaf

    return map_leaves(to_array, nest, stop=is_data)


def is_data(part: Nest) -> bool:
    """Whether a part of a nest is a leaf; a list is one, as in TensorFlow."""
    return not isinstance(part, tuple | dict)


def has_composites(nest: Nest) -> bool:
    """Whether there is a ragged or a sparse tensor."""
    return any(isinstance(leaf, CompositeTensor) for leaf in flatten(nest))


def as_leaf(leaf: Any) -> Any:
    """A ragged or sparse tensor as it is, everything else as a NumPy array."""
    return leaf if isinstance(leaf, CompositeTensor) else np.asarray(convert_to_tensor(leaf))


def to_state(nest: Nest) -> Nest:
    """Converts a state or the result of a function: Python numbers become 32 bits wide, a list is one tensor."""
    return map_leaves(_to_32_bits, nest, stop=is_data)


def to_host_tensors(nest: Nest) -> Nest:
    """Converts NumPy arrays to tensors on the host."""
    return map_leaves(_present_leaf, nest)


def _present_leaf(leaf: Any) -> Any:
    """A leaf of an element as users see it."""
    if isinstance(leaf, CompositeLeaf):
        return leaf.present()
    return to_host_tensor(leaf) if isinstance(leaf, np.ndarray | np.generic) else leaf


def to_numpy(nest: Nest) -> Nest:
    """Converts tensors to NumPy arrays, scalars, and bytes for text."""
    return map_leaves(lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, to_host_tensors(nest))


def to_32_bit_array(numbers: Any) -> Any:
    """Converts Python numbers to a 32-bit array with NumPy alone: a JAX array would start JAX."""
    try:
        array = np.asarray(numbers)
    except ValueError:  # rows of different lengths; the caller raises the error
        return numbers
    if _has_own_dtype(numbers):
        return array
    if array.dtype == np.float64:
        return array.astype(np.float32)
    fits = array.dtype == np.int64 and (not array.size or (array.min() >= _INT32_MIN and array.max() <= _INT32_MAX))
    return array.astype(np.int32) if fits else array


def prepare_function(function: Any) -> Callable[..., Any]:
    """Wraps a user's function for datasets: control flow may depend on tensors, arguments on the host are tensors."""
    if not callable(function):
        return cast(Callable[..., Any], function)  # the caller raises the error
    converted = control_flow.convert(function)

    def call_with_tensors(*arguments: Any) -> Any:
        result = converted(*to_host_tensors(arguments))
        # As in TensorFlow: a list on its own is what functions such as tf.py_function return for several tensors.
        return to_state(tuple(result) if isinstance(result, list) else result)

    functools.update_wrapper(call_with_tensors, function)
    call_with_tensors.__name__ = getattr(function, "__name__", type(function).__name__)
    return call_with_tensors


class NumpyIterator:
    """Iterates over elements as NumPy arrays and scalars, and bytes for text."""

    def __init__(self, dataset: Any) -> None:
        self._elements: Iterator[Any] = iter(dataset)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return to_numpy(next(self._elements))

    def next(self) -> Any:
        """The next element."""
        return next(self)


def _has_own_dtype(value: Any) -> bool:
    """Whether nested lists contain arrays, which have a dtype of their own."""
    if isinstance(value, list | tuple):
        return any(map(_has_own_dtype, value))
    return isinstance(value, jax.Array | np.ndarray | np.generic | keras.Variable)


def _to_32_bits(leaf: Any) -> Any:
    if isinstance(leaf, list):
        return _pack(leaf)
    if isinstance(leaf, bool) or not isinstance(leaf, int | float):
        return leaf
    return np.float32(leaf) if isinstance(leaf, float) else np.int32(leaf)


def _pack(values: list[Any]) -> Any:
    """A list as one tensor: of text, or of the dtype of its first tensor."""
    leaves = flatten(values)
    if any(isinstance(leaf, CompositeLeaf) or is_dataset(leaf) for leaf in leaves):
        return values
    if is_text(values):
        return np.stack([_pack(each) if isinstance(each, list) else as_bytes_array(each) for each in values])
    if any(isinstance(leaf, jax.Array | keras.Variable) for leaf in leaves):
        return as_array(values)
    array = to_32_bit_array(values)
    if not isinstance(array, np.ndarray):  # rows of different lengths remain a list
        return values
    dtype = next((leaf.dtype for leaf in leaves if hasattr(leaf, "dtype")), None)
    return array if dtype is None else array.astype(dtype)
