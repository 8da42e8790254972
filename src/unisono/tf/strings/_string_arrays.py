"""Helpers for functions of strings: they apply a Python function to every string of an array on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unisono.tf._operands import as_bytes_array
from unisono.tf._tensors import to_host_tensor

RAGGED = """tf.strings.{name}: the strings have {counts} parts, and ragged tensors are not supported. Call it with one
string at a time, in dataset.map(...) before dataset.batch(...), or with strings that have equally many parts."""


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


def split_each(input: Any, function: Callable[[bytes], list[bytes]], name: str) -> Any:
    """Splits each string with ``function``; the parts are along a new last dim, so all strings need equally many."""
    array = as_bytes_array(input)
    rows = [function(each) for each in array.reshape(-1)]
    counts = sorted({len(row) for row in rows}) or [0]
    if len(counts) > 1:
        raise NotImplementedError(RAGGED.format(name=name, counts=" or ".join(map(str, counts))))
    parts = np.empty((len(rows), *counts), object)
    for index, row in enumerate(rows):
        parts[index] = row
    return to_host_tensor(parts.reshape(*array.shape, *counts))


def scalar_value(value: Any) -> Any:
    """Returns the string of an array without dims; anything else unchanged."""
    return np.asarray(value).item() if isinstance(value, np.ndarray) else value
