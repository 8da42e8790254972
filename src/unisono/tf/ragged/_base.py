"""What every file of this package knows of a ragged tensor: its values, its row splits, and how to make another one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeGuard

import jax.numpy as jnp
import numpy as np
from jax import export

from unisono.tf._composite import CompositeTensor
from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged import _row_partition as partition


class RaggedBase(CompositeTensor):
    """Values, dense or ragged themselves, partitioned into rows.

    Attributes:
        values: all rows, one after the other.
        row_splits: where each row begins; one number more, where the last ends.
        uniform_row_length: the length of every row, if that is one by construction.
    """

    advice = (
        "Apply it to the flat values, tf.ragged.map_flat_values(tf.{name}, x), or pad the rows first: x.to_tensor()."
    )

    values: Any
    row_splits: Any
    uniform_row_length: int | None

    @abstractmethod
    def rebuild(self, values: Any, row_splits: Any, uniform_row_length: int | None = None) -> Any:
        """A ragged tensor of other values and rows."""

    def num_rows(self) -> int:
        """The number of rows, which is known in compiled functions, too."""
        return as_size(self.row_splits.shape[0]) - 1

    def num_values(self) -> int:
        """The number of values that are partitioned into rows."""
        return len_of(self.values)

    def lengths(self) -> Any:
        """The lengths of the rows."""
        return partition.row_lengths(self.row_splits)

    def rowids(self) -> Any:
        """The row of each value."""
        return partition.value_rowids(self.row_splits, self.num_values())

    def with_rows_of(self, values: Any) -> Any:
        """The same rows of other values."""
        return self.rebuild(values, self.row_splits, self.uniform_row_length)


def is_ragged(value: Any) -> TypeGuard[Any]:
    """Whether it is a ragged tensor."""
    return isinstance(value, RaggedBase)


def as_size(dim: Any) -> int:
    """A dim as an int. A symbolic one, of a program that is exported for any size, stays as it is."""
    return dim if export.is_symbolic_dim(dim) else int(dim)  # type: ignore[return-value]


def len_of(values: Any) -> int:
    """The number of rows of a dense or ragged tensor."""
    return values.num_rows() if is_ragged(values) else as_size(values.shape[0])


def flat_values_of(value: Any) -> Any:
    """The innermost values."""
    while is_ragged(value):
        value = value.values
    return value


def with_flat_values_of(value: Any, flat: Any) -> Any:
    """The same rows with other innermost values."""
    return value.with_rows_of(with_flat_values_of(value.values, flat)) if is_ragged(value) else flat


def ragged_rank_of(value: Any) -> int:
    """How many dims are partitioned by row splits."""
    return 1 + ragged_rank_of(value.values) if is_ragged(value) else 0


def gather_rows(value: Any, rows: Any) -> Any:
    """The rows of a dense or ragged tensor with these numbers, on the host a NumPy array of one dim."""
    if not is_ragged(value):
        return partition.take_rows(value, rows)
    splits = partition.known_splits(value.row_splits, "Choosing rows")
    numbers = np.asarray(partition.known_splits(rows, "Choosing rows"), np.int64)
    numbers = np.where(numbers < 0, numbers + value.num_rows(), numbers)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= value.num_rows()):
        raise ValueError(f"Row numbers {numbers.tolist()} are not all in a ragged tensor of {value.num_rows()} rows.")
    counts = np.diff(splits)[numbers]
    inner = gather_rows(value.values, partition.join_ranges(splits[:-1][numbers], counts))
    new_splits = partition.splits_from_lengths(counts.astype(splits.dtype))
    return value.rebuild(inner, new_splits, value.uniform_row_length)


def concat_dense(arrays: list[Any]) -> Any:
    """Dense arrays one after the other: on the host if all are there."""
    if all(isinstance(array, np.ndarray) for array in arrays):
        return to_host_tensor(np.concatenate([np.asarray(array) for array in arrays]))
    return jnp.concatenate([jnp.asarray(array) for array in arrays])


def concat_rows(tensors: Sequence[Any]) -> Any:
    """The rows of dense or of ragged tensors, which have equally many ragged dims, one after the other."""
    first = tensors[0]
    if not is_ragged(first):
        return concat_dense(list(tensors))
    lengths = [partition.known_splits(each.lengths(), "Joining rows") for each in tensors]
    uniform = {each.uniform_row_length for each in tensors}
    splits = partition.splits_from_lengths(np.concatenate(lengths).astype(np.int64))
    inner = concat_rows([each.values for each in tensors])
    return first.rebuild(inner, splits, uniform.pop() if len(uniform) == 1 else None)
