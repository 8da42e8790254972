"""Ragged tensors as Python lists, NumPy arrays and text."""

from __future__ import annotations

import itertools
from typing import Any, Final

import numpy as np

from unisono.tf._operands import as_bytes_array
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import RaggedBase, flat_values_of, is_ragged

_MAX_SHOWN: Final = 1000  # values; NumPy's limit as well
_EDGE: Final = 3


def to_nested_list(value: Any) -> list[Any]:
    """The rows as nested lists; text as bytes."""
    if not is_ragged(value):
        plain = np.asarray(value)
        return list((as_bytes_array(plain) if plain.dtype.kind in "OSUT" else plain).tolist())
    splits = partition.known_splits(value.row_splits, "to_list()").tolist()
    inner = to_nested_list(value.values)
    return [inner[first:last] for first, last in itertools.pairwise(splits)]


def to_nested_array(value: Any) -> Any:
    """A NumPy array if all rows have one shape, else an array of arrays."""
    if not is_ragged(value):
        plain = np.asarray(value)
        return as_bytes_array(plain) if plain.dtype.kind in "OSUT" else plain
    splits = partition.known_splits(value.row_splits, "numpy()")
    inner = to_nested_array(value.values)
    rows = [inner[first:last] for first, last in itertools.pairwise(splits)]
    lengths = {len(row) for row in rows}
    if inner.dtype != object or _is_text(value):
        if len(lengths) == 1:
            return np.stack(rows)
        if not rows:
            return np.zeros((0, 0, *inner.shape[1:]), inner.dtype)
    nested = np.empty(len(rows), object)
    for number, row in enumerate(rows):
        nested[number] = row
    return nested


def _is_text(value: RaggedBase) -> bool:
    return flat_values_of(value).dtype.kind in "OSUT" and not is_ragged(value.values)


def to_text(value: RaggedBase) -> str:
    """What `print` shows."""
    flat = flat_values_of(value)
    if partition.is_traced(flat, value.row_splits):
        return f"tf.RaggedTensor(values={value.values}, row_splits={value.row_splits})"
    return f"<tf.RaggedTensor {_format(to_nested_list(value), flat.size > _MAX_SHOWN)}>"


def _format(nested: Any, shortened: bool) -> str:
    if not isinstance(nested, list):
        return repr(nested)
    parts = [_format(each, shortened) for each in nested[:_EDGE]] if shortened else []
    if shortened and len(nested) > 2 * _EDGE:
        return "[" + ", ".join([*parts, "...", *(_format(each, shortened) for each in nested[-_EDGE:])]) + "]"
    return "[" + ", ".join(_format(each, shortened) for each in nested) + "]"
