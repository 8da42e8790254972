"""Initial contents of lookup tables: `KeyValueTensorInitializer` and `TextFileInitializer`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from unisono.tf import errors
from unisono.tf._dtypes import DType, as_dtype, int64, string
from unisono.tf._operands import as_bytes_array
from unisono.tf._paths import to_local_path, translate_os_errors
from unisono.tf._tensors import convert_to_tensor

Array = np.ndarray[Any, Any]


class TextFileIndex:
    """Which part of a line is used: the whole line, its number, or a column by its index, from 0."""

    WHOLE_LINE: Final = -2
    LINE_NUMBER: Final = -1


class KeyValueTensorInitializer:
    """Keys and their values, given as tensors.

    Args:
        keys: numbers or strings.
        values: one for each key.
        key_dtype: the dtype of the keys. If None, the dtype of ``keys``.
        value_dtype: the dtype of the values. If None, the dtype of ``values``.
        name: accepted without effect.
    """

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None
    ) -> None:
        self.keys, self.values = to_host_array(keys, key_dtype), to_host_array(values, value_dtype)
        if self.keys.shape != self.values.shape:
            raise ValueError(
                f"tf.lookup.KeyValueTensorInitializer: the keys have shape {self.keys.shape}, the values "
                f"{self.values.shape}. Expected as many values as keys."
            )

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return as_dtype(self.keys.dtype)

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self.values.dtype)


class TextFileInitializer(KeyValueTensorInitializer):
    """Keys and values from the lines of a text file.

    Args:
        filename: the path of a local file.
        key_dtype: the dtype of the keys.
        key_index: a `TextFileIndex`, or the index of a column.
        value_dtype: the dtype of the values.
        value_index: as for keys.
        vocab_size: the number of lines to read. If None, all.
        delimiter: the separator of columns.
        name: accepted without effect.
        value_index_offset: added to line numbers.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        path = to_local_path(filename, "tf.lookup.TextFileInitializer")
        with translate_os_errors(path), open(path, "rb") as file:
            lines = file.read().splitlines()[:vocab_size]
        if vocab_size is not None and len(lines) < vocab_size:
            message = f"tf.lookup.TextFileInitializer: {path!r} has {len(lines)} lines, vocab_size is {vocab_size}."
            raise errors.InvalidArgumentError(None, None, message)
        keys = _read_column(lines, key_index, key_dtype, delimiter.encode(), path)
        values = _read_column(lines, value_index, value_dtype, delimiter.encode(), path)
        if value_index == TextFileIndex.LINE_NUMBER:
            values = values + value_index_offset
        super().__init__(keys, values, key_dtype, value_dtype)


def to_host_array(values: Any, dtype: Any = None) -> Array:
    """Converts numbers or strings to a NumPy array; strings to bytes objects."""
    if not isinstance(values, np.ndarray):
        values = convert_to_tensor(values, string if dtype is not None and as_dtype(dtype) == string else None)
    found = np.asarray(values)
    if found.dtype.kind not in "OSUT":
        return found if dtype is None else found.astype(as_dtype(dtype).dtype)
    return as_bytes_array(found)


def _read_column(lines: list[bytes], index: int, dtype: Any, delimiter: bytes, path: str) -> Array:
    target = as_dtype(dtype)
    if index == TextFileIndex.LINE_NUMBER:
        if target != int64:
            raise ValueError(f"tf.lookup.TextFileInitializer: line numbers need the dtype tf.int64, got {target!r}.")
        return np.arange(len(lines), dtype=np.int64)
    column = np.empty(len(lines), target.dtype)
    for number, line in enumerate(lines):
        fields = [line] if index == TextFileIndex.WHOLE_LINE else line.split(delimiter)
        field = 0 if index == TextFileIndex.WHOLE_LINE else index
        if field >= len(fields):
            message = f"line {number} of {path!r} has {len(fields)} columns. Expected column {field}, counted from 0."
            raise errors.InvalidArgumentError(None, None, f"tf.lookup.TextFileInitializer: {message}")
        column[number] = fields[field] if target == string else target.as_numpy_dtype(fields[field])
    return column
