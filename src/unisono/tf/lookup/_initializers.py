"""What tables are filled with: `KeyValueTensorInitializer`, `TextFileInitializer`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from unisono.tf import errors
from unisono.tf._dtypes import DType, as_dtype, int64, string
from unisono.tf._paths import to_local_path, translate_os_errors
from unisono.tf._tensors import as_bytes, convert_to_tensor

Array = np.ndarray[Any, Any]


class TextFileIndex:
    """Which part of a line: all of it, its number, or, as a number from 0 on, one of its columns."""

    WHOLE_LINE: Final = -2
    LINE_NUMBER: Final = -1


class KeyValueTensorInitializer:
    """Keys and their values.

    Args:
        keys: numbers or text.
        values: as many.
        key_dtype: the dtype of keys; if None, that of the given ones.
        value_dtype: the same for values.
        name: accepted, without effect.
    """

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None
    ) -> None:
        self.keys, self.values = to_host_array(keys, key_dtype), to_host_array(values, value_dtype)
        if self.keys.shape != self.values.shape:
            raise ValueError(
                f"KeyValueTensorInitializer: there are keys of shape {self.keys.shape} and values of shape "
                f"{self.values.shape}. Expected as many values as keys."
            )

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return as_dtype(self.keys.dtype)

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return as_dtype(self.values.dtype)


class TextFileInitializer(KeyValueTensorInitializer):
    """Keys and values out of the lines of a file.

    Args:
        filename: the file.
        key_dtype: text or a type of numbers.
        key_index: a `TextFileIndex`, or the number of a column.
        value_dtype: as for keys.
        value_index: as for keys.
        vocab_size: how many lines are read; all if None.
        delimiter: what stands between columns.
        name: accepted, without effect.
        value_index_offset: is added to the numbers of lines.
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
            said = f"tf.lookup.TextFileInitializer: {path!r} has {len(lines)} lines, vocab_size is {vocab_size}."
            raise errors.InvalidArgumentError(None, None, said)
        keys = _column(lines, key_index, key_dtype, delimiter.encode(), path)
        values = _column(lines, value_index, value_dtype, delimiter.encode(), path)
        if value_index == TextFileIndex.LINE_NUMBER:
            values = values + value_index_offset
        super().__init__(keys, values, key_dtype, value_dtype)


def to_host_array(values: Any, dtype: Any = None) -> Array:
    """Numbers or text as an array on the host; text as bytes."""
    plain = isinstance(values, np.ndarray)
    found = np.asarray(values if plain else convert_to_tensor(values, None if dtype is None else _kept(dtype)))
    if found.dtype.kind not in "OSUT":
        return found if dtype is None else found.astype(as_dtype(dtype).dtype)
    texts = np.empty(found.shape, object)
    for index in np.ndindex(found.shape):
        texts[index] = as_bytes(found[index])
    return texts


def _kept(dtype: Any) -> Any:
    return string if as_dtype(dtype) == string else None


def _column(lines: list[bytes], index: int, dtype: Any, delimiter: bytes, path: str) -> Array:
    wanted = as_dtype(dtype)
    if index == TextFileIndex.LINE_NUMBER:
        if wanted != int64:
            raise ValueError(f"tf.lookup.TextFileInitializer: numbers of lines are tf.int64, not {wanted!r}.")
        return np.arange(len(lines), dtype=np.int64)
    made = np.empty(len(lines), wanted.dtype)
    for number, line in enumerate(lines):
        fields = [line] if index == TextFileIndex.WHOLE_LINE else line.split(delimiter)
        place = 0 if index == TextFileIndex.WHOLE_LINE else index
        if place >= len(fields):
            said = f"tf.lookup.TextFileInitializer: line {number} of {path!r} has {len(fields)} columns, no {place}."
            raise errors.InvalidArgumentError(None, None, said)
        made[number] = fields[place] if wanted == string else wanted.as_numpy_dtype(fields[place])
    return made
