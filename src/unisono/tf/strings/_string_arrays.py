"""Functions of texts, for arrays of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unisono.tf._operands import as_bytes_array
from unisono.tf._tensors import to_host_tensor

RAGGED = """tf.strings.{name}: the rows have {counts} parts, which makes no tensor; there are no ragged ones. Call it on
one text at a time, dataset.map(...) before dataset.batch(...), or on rows with equally many parts."""


def map_strings(function: Callable[..., bytes], *arrays: Any) -> Any:
    """What a function makes of each text, or of each of several in the same place."""
    return to_host_tensor(
        build_string_array(arrays[0].shape, lambda index: function(*(array[index] for array in arrays)))
    )


def build_string_array(shape: Any, value: Callable[[Any], bytes]) -> Any:
    """An array of the texts that belong to the places."""
    made = np.empty(tuple(shape), object)
    for index in np.ndindex(made.shape):
        made[index] = value(index)
    return made


def split_each(input: Any, function: Callable[[bytes], list[bytes]], name: str) -> Any:
    """The parts of each text along a new last dim, if all have as many."""
    array = as_bytes_array(input)
    rows = [function(each) for each in array.reshape(-1)]
    counts = sorted({len(row) for row in rows}) or [0]
    if len(counts) > 1:
        raise NotImplementedError(RAGGED.format(name=name, counts=" or ".join(map(str, counts))))
    made = np.empty((len(rows), *counts), object)
    for place, row in enumerate(rows):
        made[place] = row
    return to_host_tensor(made.reshape(*array.shape, *counts))


def scalar_value(value: Any) -> Any:
    """The text that an array without dims holds."""
    return np.asarray(value).item() if isinstance(value, np.ndarray) else value
