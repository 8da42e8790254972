"""`tf.experimental.RowPartition`: how values are partitioned into rows, without the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.tf._dtypes import DType, as_dtype
from unisono.tf._operands import static_int, static_value
from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged import _construction as construction
from unisono.tf.ragged import _row_partition as partition

CREATE = "Create a tf.experimental.RowPartition with one of its methods, such as RowPartition.from_row_lengths([2, 3])."


class RowPartition:
    """Where each row begins and ends. Create one with a `from_` method.

    >>> rows = RowPartition.from_row_lengths([2, 0, 3])
    >>> rows
    tf.RowPartition(row_splits=[0 2 2 5])
    >>> rows.value_rowids().tolist()
    [0, 0, 2, 2, 2]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise ValueError(CREATE)

    @classmethod
    def of_splits(cls, row_splits: Any, uniform_row_length: int | None = None, dtype: Any = None) -> RowPartition:
        """The partition with these row splits."""
        splits = partition.known_splits(partition.as_splits(row_splits), "tf.experimental.RowPartition")
        rows = object.__new__(cls)
        rows._splits = to_host_tensor(splits if dtype is None else splits.astype(as_dtype(dtype).dtype))
        rows._uniform_row_length = uniform_row_length
        return rows

    _splits: Any
    _uniform_row_length: int | None

    @classmethod
    def from_row_splits(
        cls, row_splits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows that begin at each split, and end at the next."""
        splits = static_value(row_splits, "row_splits").reshape(-1)
        values = np.broadcast_to(0, (int(splits[-1]) if splits.size else 0,))
        construction.check_splits(splits, values)
        return cls.of_splits(splits, dtype=dtype)

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows of these lengths."""
        lengths = np.atleast_1d(static_value(row_lengths, "row_lengths")).astype(np.int64)
        return cls.from_row_splits(partition.splits_from_lengths(lengths), dtype=dtype)

    @classmethod
    def from_row_starts(
        cls, row_starts: Any, nvals: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows that begin here; ``nvals`` is the number of values."""
        starts = static_value(row_starts, "row_starts").astype(np.int64)
        return cls.from_row_splits(np.append(starts, static_int(nvals)), dtype=dtype)

    @classmethod
    def from_row_limits(
        cls, row_limits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows that end here."""
        limits = static_value(row_limits, "row_limits").astype(np.int64)
        return cls.from_row_splits(np.insert(limits, 0, 0), dtype=dtype)

    @classmethod
    def from_value_rowids(
        cls, value_rowids: Any, nrows: Any = None, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Each value belongs to the row with this number."""
        rowids = static_value(value_rowids, "value_rowids").astype(np.int64)
        return cls.of_splits(construction.splits_from_rowids(rowids, nrows, len(rowids)), dtype=dtype)

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: Any,
        nvals: Any = None,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Rows of one length; ``nvals`` is the number of values, ``nrows`` that of rows."""
        length = static_int(uniform_row_length)
        if nvals is None and nrows is None:
            raise ValueError("RowPartition.from_uniform_row_length: pass nvals or nrows.")
        count = length * static_int(nrows) if nvals is None else static_int(nvals)
        return cls.of_splits(construction.uniform_splits(length, nrows, count), length, dtype)

    @property
    def dtype(self) -> DType:
        """The dtype of the row splits."""
        return as_dtype(self._splits.dtype)

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same rows, with row splits of this dtype."""
        return self.of_splits(self._splits, self._uniform_row_length, dtype)

    def row_splits(self) -> Any:
        """Where each row begins; one number more, where the last ends."""
        return self._splits

    def row_lengths(self) -> Any:
        """The lengths of the rows."""
        return partition.row_lengths(self._splits)

    def row_starts(self) -> Any:
        """Where each row begins."""
        return self._splits[:-1]

    def row_limits(self) -> Any:
        """Where each row ends."""
        return self._splits[1:]

    def value_rowids(self) -> Any:
        """The row of each value."""
        return partition.value_rowids(self._splits, self.static_nvals)

    def offsets_in_rows(self) -> Any:
        """The position of each value in its row."""
        return to_host_tensor(partition.positions_in_rows(self._splits, self.static_nvals))

    def nrows(self) -> Any:
        """The number of rows."""
        return to_host_tensor(np.asarray(self.static_nrows, self._splits.dtype))

    def nvals(self) -> Any:
        """The number of values."""
        return to_host_tensor(np.asarray(self.static_nvals, self._splits.dtype))

    @property
    def static_nrows(self) -> int:
        """The number of rows."""
        return len(self._splits) - 1

    @property
    def static_nvals(self) -> int:
        """The number of values."""
        return int(np.asarray(self._splits)[-1])

    def is_uniform(self) -> bool:
        """Whether all rows have one length by construction."""
        return self._uniform_row_length is not None

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of every row, if that is one by construction."""
        return self._uniform_row_length

    def uniform_row_length(self) -> Any:
        """:attr:`static_uniform_row_length` as a tensor."""
        length = self._uniform_row_length
        return None if length is None else to_host_tensor(np.asarray(length, self._splits.dtype))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowPartition) and np.array_equal(self._splits, other._splits)

    def __hash__(self) -> int:
        return hash(np.asarray(self._splits).tobytes())

    def __repr__(self) -> str:
        if self._uniform_row_length is not None:
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={self._uniform_row_length})"
        return f"tf.RowPartition(row_splits={np.asarray(self._splits)})"
