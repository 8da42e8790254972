"""What has rows: read-only views of arrays, ranges of numbers, and concatenated arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RangeArray:
    """The rows are the numbers of a range."""

    numbers: range
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.int64))

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.numbers),)

    @property
    def nbytes(self) -> int:
        return len(self.numbers) * self.dtype.itemsize

    def __getitem__(self, rows: Any) -> Any:
        positions = np.asarray(rows).astype(np.int64)
        return (self.numbers.start + self.numbers.step * positions).astype(self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        numbers: NDArray[Any] = self[np.arange(len(self.numbers))]
        return numbers.astype(dtype or self.dtype)


@dataclass(frozen=True, eq=False)
class ConcatenatedArray:
    """The rows of one array, then those of another with equal row shape and dtype. Nothing is copied."""

    first: Any
    second: Any

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.first.dtype
        return dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.first.shape[0] + self.second.shape[0], *self.first.shape[1:])

    @property
    def nbytes(self) -> int:
        return int(self.first.nbytes + self.second.nbytes)

    def __getitem__(self, rows: Any) -> Any:
        num_first = self.first.shape[0]
        rows = np.asarray(rows)
        if rows.ndim == 0:
            return read_row(self.first, rows) if rows < num_first else read_row(self.second, rows - num_first)
        in_second = rows >= num_first
        gathered = np.empty((*rows.shape, *self.shape[1:]), self.dtype)
        gathered[~in_second] = np.asarray(self.first[rows[~in_second]])
        gathered[in_second] = np.asarray(self.second[rows[in_second] - num_first])
        return gathered

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.concatenate([np.asarray(self.first), np.asarray(self.second)]).astype(dtype or self.dtype, copy=False)


def read_row(array: Any, row: Any) -> NDArray[Any]:
    """One row as an array, even if it has no dimension: a map function always sees arrays."""
    # NumPy's scalar of an array of objects is the object itself, and an array made of bytes loses zeros at their end.
    return array[row, ...] if isinstance(array, np.ndarray) else np.asarray(array[row])


def as_read_only(leaf: Any) -> Any:
    """An array as a view that cannot be written to, fetched from its device if it is on one; anything else unchanged.

    Elements are views: a map that writes into its argument would change the user's data, and would not trace.
    """
    # A jax.Array is recognised by its shards, since this package may not import JAX.
    if not isinstance(leaf, np.ndarray) and not hasattr(leaf, "addressable_shards"):
        return leaf
    view = np.asarray(leaf).view()
    view.flags.writeable = False
    return view
