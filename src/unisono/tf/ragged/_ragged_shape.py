"""`tf.experimental.DynamicRaggedShape`: what `tf.shape` of a ragged tensor returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono.tf._composite import CompositeTensor
from unisono.tf._op import get_op
from unisono.tf._operands import static_shape
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import flat_values_of, is_ragged, len_of, ragged_rank_of, with_flat_values_of
from unisono.tf.ragged._padding import bounding_sizes
from unisono.tf.ragged._ragged_tensor import RaggedTensor
from unisono.tf.ragged._row_partition_class import RowPartition

WRONG_PARTITIONS = """The row partitions {partitions} and inner_shape={sizes} do not fit together: each partition has as
many values as the next has rows, and the last as many as the first dim of inner_shape."""


class DynamicRaggedShape(CompositeTensor):
    """The lengths of all rows of a ragged tensor.

    >>> from unisono.tf.ragged import constant
    >>> DynamicRaggedShape.from_tensor(constant([[1, 2], [3]]))
    <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
    """

    advice = "It is the shape of a ragged tensor; tf.reshape, tf.broadcast_to, tf.fill, tf.ones and tf.zeros take one."

    def __init__(
        self,
        row_partitions: Sequence[RowPartition],
        inner_shape: Any,
        dtype: Any = None,
        validate: bool = False,
        static_inner_shape: Any = None,
    ) -> None:
        partitions, sizes = list(row_partitions), static_shape(inner_shape)
        self._rows: Any = np.broadcast_to(False, sizes)
        for each in reversed(partitions):
            if each.static_nvals != len_of(self._rows):
                raise ValueError(WRONG_PARTITIONS.format(partitions=partitions, sizes=sizes))
            self._rows = RaggedTensor(self._rows, each.row_splits(), each.static_uniform_row_length)

    @classmethod
    def _of(cls, rows: Any) -> DynamicRaggedShape:
        shape = object.__new__(cls)
        shape._rows = rows
        return shape

    @classmethod
    def from_tensor(cls, t: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of a ragged tensor."""
        if not is_ragged(t):
            raise TypeError("DynamicRaggedShape.from_tensor: expected a ragged tensor; use tf.shape for dense ones.")
        return cls._of(t)

    @classmethod
    def from_lengths(cls, lengths: Any, num_row_partitions: int | None = None, dtype: Any = "int64") -> Any:
        """A shape from a number for each uniform dim, and a list of lengths for each ragged dim."""
        inner = list(lengths)
        splits: list[Any] = []
        rows = int(inner[0])
        last_ragged = max((axis for axis, size in enumerate(inner) if not isinstance(size, int)), default=0)
        for size in inner[1 : last_ragged + 1]:
            counts = np.full(rows, size, np.int64) if isinstance(size, int) else np.asarray(size, np.int64)
            splits.append(partition.splits_from_lengths(counts))
            rows = int(counts.sum())
        flat = np.zeros((rows, *inner[last_ragged + 1 :]), bool)
        return cls._of(RaggedTensor.from_nested_row_splits(flat, splits))

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self._rows.shape)

    @property
    def num_row_partitions(self) -> int:
        """The number of dims that are partitioned by row splits."""
        return ragged_rank_of(self._rows)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The partitions of the ragged dims, the outermost first."""
        found, level = [], self._rows
        while is_ragged(level):
            found.append(RowPartition.of_splits(level.row_splits, level.uniform_row_length))
            level = level.values
        return tuple(found)

    @property
    def inner_rank(self) -> int:
        """The number of dims of the flat values."""
        return len(flat_values_of(self._rows).shape)

    @property
    def inner_shape(self) -> Any:
        """The shape of the flat values."""
        return to_host_tensor(np.array(flat_values_of(self._rows).shape, np.int64))

    @property
    def static_shape(self) -> TensorShape:
        """The shape, with None for ragged dims."""
        return TensorShape(self._rows.shape)

    def static_lengths(self) -> list[Any]:
        """A number for each uniform dim, a tuple of lengths for each ragged one."""
        if not is_ragged(self._rows):
            return [int(size) for size in self._rows.shape]
        found: list[Any] = [self._rows.num_rows()]
        level = self._rows
        while is_ragged(level):
            uniform = level.uniform_row_length
            lengths = partition.known_splits(level.lengths(), "The lengths of a ragged shape")
            found.append(tuple(lengths.tolist()) if uniform is None else uniform)
            level = level.values
        return [*found, *(int(size) for size in level.shape[1:])]

    def is_uniform(self, axis: int) -> bool:
        """Whether all rows of a dim have one length by construction."""
        return not isinstance(self.static_lengths()[axis], tuple)

    def bounding_shape(self) -> Any:
        """The shape of the smallest dense tensor that holds all rows."""
        return to_host_tensor(np.array(bounding_sizes(self._rows), np.int64))

    def as_ragged(self) -> Any:
        """A ragged tensor of this shape."""
        return self._rows

    def __getitem__(self, index: Any) -> Any:
        found = self.static_lengths()[index]
        if isinstance(found, tuple):
            raise ValueError(f"Dim {index} of a ragged shape is ragged; its lengths are {found}.")
        return to_host_tensor(np.asarray(found, np.int64)) if isinstance(found, int) else found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DynamicRaggedShape) and self.static_lengths() == other.static_lengths()

    def __hash__(self) -> int:
        return hash(str(self.static_lengths()))

    def __repr__(self) -> str:
        lengths = ", ".join(str(each) for each in self.static_lengths())
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={self.num_row_partitions}>"


def shape(input: Any, out_type: Any = "int64") -> DynamicRaggedShape:
    """`tf.shape` of a ragged tensor."""
    return DynamicRaggedShape.from_tensor(input)


def reshape(tensor: Any, shape: Any) -> Any:
    """`tf.reshape` of a ragged tensor, or to a ragged shape: of its flat values, one after the other."""
    flat = flat_values_of(tensor)
    if not isinstance(shape, DynamicRaggedShape):
        return get_op("reshape")(flat, shape)
    rows = shape.as_ragged()
    return with_flat_values_of(rows, get_op("reshape")(flat, list(flat_values_of(rows).shape)))


def fill(dims: Any, value: Any, layout: Any = None) -> Any:
    """`tf.fill` of a ragged shape."""
    return _create("fill", dims, value)


def ones(shape: Any, dtype: Any = "float32", layout: Any = None) -> Any:
    """`tf.ones` of a ragged shape."""
    return _create("ones", shape, dtype)


def zeros(shape: Any, dtype: Any = "float32", layout: Any = None) -> Any:
    """`tf.zeros` of a ragged shape."""
    return _create("zeros", shape, dtype)


def uniform(shape: Any, *args: Any, **kwargs: Any) -> Any:
    """`tf.random.uniform` of a ragged shape."""
    return _create("random.uniform", shape, *args, **kwargs)


def normal(shape: Any, *args: Any, **kwargs: Any) -> Any:
    """`tf.random.normal` of a ragged shape."""
    return _create("random.normal", shape, *args, **kwargs)


def _create(name: str, shape: Any, *args: Any, **kwargs: Any) -> Any:
    """A ragged tensor whose flat values a function of dense shapes creates."""
    rows = shape.as_ragged()
    return with_flat_values_of(rows, get_op(name)(list(flat_values_of(rows).shape), *args, **kwargs))
