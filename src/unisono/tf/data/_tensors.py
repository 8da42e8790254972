"""What users pass to datasets, and what they get: Python's numbers of 32 bits, tensors on the host."""

from __future__ import annotations

from typing import Any

import jax
import keras
import numpy as np

from unisono._src.data.plans import Nest, map_leaves
from unisono.tf._dtypes import int64
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import HostTensor, is_text, to_host_tensor

NOT_DENSE = """{call}: a {kind} cannot be in a dataset, whose elements are dense arrays.
Pad the rows to one length, say with tf.keras.utils.pad_sequences, or yield them from a generator and use
padded_batch."""

_LEAST, _MOST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


class Count(int):
    """A number of elements, with the manners of a tensor.

    >>> Count(3).numpy(), Count(3) == 3
    (np.int64(3), True)
    """

    dtype = int64
    shape = TensorShape(())

    def numpy(self) -> np.int64:
        """The number as NumPy has it."""
        return np.int64(self)


def as_data(nest: Nest, call: str) -> Nest:
    """Arrays for a dataset. As in TensorFlow a list is one array, and Python's numbers have 32 bits."""

    def array(leaf: Any) -> Any:
        kind = type(leaf).__name__
        if kind in {"RaggedTensor", "SparseTensor", "BCOO"} or hasattr(leaf, "toarray"):
            raise TypeError(NOT_DENSE.format(call=call, kind=kind))
        if isinstance(leaf, keras.Variable):
            return leaf.value
        if isinstance(leaf, list | int | float | complex) and not is_text(leaf):
            return of_python(leaf)
        return np.asarray(leaf) if isinstance(leaf, HostTensor) else leaf

    return map_leaves(array, nest, stop=lambda part: not isinstance(part, tuple | dict))


def as_state(nest: Nest) -> Nest:
    """A state that functions are given, and what they return: Python's numbers become those of 32 bits."""
    return map_leaves(_number, nest)


def presented(nest: Nest) -> Nest:
    """Arrays as tensors on the host."""
    return map_leaves(lambda leaf: to_host_tensor(leaf) if isinstance(leaf, np.ndarray | np.generic) else leaf, nest)


def as_numpy(nest: Nest) -> Nest:
    """Tensors as NumPy has them: numbers instead of arrays without dimensions, bytes for text."""
    return map_leaves(lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, presented(nest))


def of_python(numbers: Any) -> Any:
    """Python's numbers as an array of 32 bits, by NumPy alone: an array of JAX would start it."""
    try:
        array = np.asarray(numbers)
    except ValueError:  # rows of different lengths, of which whoever gets them speaks
        return numbers
    if _has_own_dtype(numbers):
        return array
    if array.dtype == np.float64:
        return array.astype(np.float32)
    fits = array.dtype == np.int64 and (not array.size or (array.min() >= _LEAST and array.max() <= _MOST))
    return array.astype(np.int32) if fits else array


def _has_own_dtype(value: Any) -> bool:
    """Whether there are arrays among lists of numbers."""
    if isinstance(value, list | tuple):
        return any(map(_has_own_dtype, value))
    return isinstance(value, jax.Array | np.ndarray | np.generic | keras.Variable)


def _number(leaf: Any) -> Any:
    if isinstance(leaf, bool) or not isinstance(leaf, int | float):
        return leaf
    return np.float32(leaf) if isinstance(leaf, float) else np.int32(leaf)
