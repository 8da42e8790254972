"""Helpers for functions of strings: they apply a Python function to every string of an array on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unisono.tf._operands import as_bytes_array
from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged._ragged_tensor import RaggedTensor


def map_strings(function: Callable[..., bytes], *arrays: Any) -> Any:
    """Returns an array of ``function(*strings)`` for the corresponding elements of arrays of one shape."""
    shape = arrays[0].shape
    return to_host_tensor(build_string_array(shape, lambda index: function(*(array[index] for array in arrays))))


def build_string_array(shape: Any, value: Callable[[Any], bytes]) -> Any:
    """Returns an array of this shape with ``value(index)`` at each index."""
    array = np.empty(tuple(shape), object)
    for index in np.ndindex(array.shape):
        array[index] = value(index)
    return array


def split_each(input: Any, function: Callable[[bytes], list[Any]], dtype: Any = object) -> Any:
    """Splits each string with ``function``: a row of parts for each, as a ragged tensor; for one string a dense one."""
    array = as_bytes_array(input)
    rows = [function(each) for each in array.reshape(-1)]
    parts = np.empty(sum(map(len, rows)), dtype)
    parts[:] = [part for row in rows for part in row]
    if array.ndim == 0:
        return to_host_tensor(parts)
    ragged = RaggedTensor.from_row_lengths(to_host_tensor(parts), np.array([len(row) for row in rows], np.int64))
    for size in reversed(array.shape[1:]):
        ragged = RaggedTensor.from_uniform_row_length(ragged, size)
    return ragged


def scalar_value(value: Any) -> Any:
    """Returns the string of an array without dims; anything else unchanged."""
    return np.asarray(value).item() if isinstance(value, np.ndarray) else value
