"""`tf.RaggedTensor`: rows of different lengths, as flat values and row splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import jax
import numpy as np

from unisono._src.data.plans import PaddedRagged, register_file_kind
from unisono.tf._dtypes import DType, as_dtype
from unisono.tf._op import binary_operators, call_op
from unisono.tf._operands import static_int, static_shape, static_value
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import HostTensor, to_host_tensor
from unisono.tf.ragged import _construction as construction
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import (
    RaggedBase,
    concat_rows,
    flat_values_of,
    gather_rows,
    is_ragged,
    len_of,
    ragged_rank_of,
    with_flat_values_of,
)
from unisono.tf.ragged._format import to_nested_array, to_nested_list, to_text
from unisono.tf.ragged._getitem import get_item
from unisono.tf.ragged._merge_dims import merge_dims
from unisono.tf.ragged._padding import bounding_sizes, pad_rows
from unisono.tf.ragged._ragged_row import RaggedRow
from unisono.tf.ragged._spec import RaggedTensorSpec


class RaggedTensor(RaggedBase):
    """Values partitioned into rows. Create one with a `from_` method or `tf.ragged.constant`.

    >>> rows = RaggedTensor.from_row_splits(values=[3, 1, 4, 1, 5], row_splits=[0, 2, 2, 5])
    >>> rows
    <tf.RaggedTensor [[3, 1], [], [4, 1, 5]]>
    >>> rows.row_lengths().tolist()
    [2, 0, 3]

    It is a pytree of JAX. The rows are known inside compiled functions, which are traced again for other rows; only if
    a function computes row splits itself, those are not, and functions that need them say so.
    """

    def __init__(self, values: Any, row_splits: Any, uniform_row_length: int | None = None) -> None:
        self.values, self.row_splits, self.uniform_row_length = values, row_splits, uniform_row_length

    def rebuild(self, values: Any, row_splits: Any, uniform_row_length: int | None = None) -> RaggedTensor:
        return RaggedTensor(values, row_splits, uniform_row_length)

    # Constructors

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that begin at each split, and end at the next."""
        values, splits = construction.as_values(values), partition.as_splits(row_splits)
        if validate:
            construction.check_splits(splits, values)
        return RaggedTensor(values, splits)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows of these lengths."""
        lengths = row_lengths if partition.is_traced(row_lengths) else np.asarray(row_lengths)
        lengths = lengths.astype(np.int64) if isinstance(lengths, np.ndarray) and not lengths.size else lengths
        return cls.from_row_splits(values, partition.splits_from_lengths(lengths), validate=validate)

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Each value belongs to the row with this number."""
        values = construction.as_values(values)
        return RaggedTensor(values, construction.splits_from_rowids(value_rowids, nrows, len_of(values)))

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that begin here."""
        values = construction.as_values(values)
        starts = static_value(row_starts, "from_row_starts: row_starts").astype(np.int64)
        return cls.from_row_splits(values, np.append(starts, len_of(values)), validate=validate)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that end here."""
        limits = static_value(row_limits, "from_row_limits: row_limits").astype(np.int64)
        return cls.from_row_splits(values, np.insert(limits, 0, 0), validate=validate)

    @classmethod
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: str | None = None
    ) -> RaggedTensor:
        """Rows of one length."""
        values, length = construction.as_values(values), static_int(uniform_row_length)
        return RaggedTensor(values, construction.uniform_splits(length, nrows, len_of(values)), length)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        """Several ragged dims, the outermost first."""
        return cls._nest(cls.from_row_splits, flat_values, nested_row_splits)

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        """Several ragged dims, the outermost first."""
        return cls._nest(cls.from_row_lengths, flat_values, nested_row_lengths)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Sequence[Any],
        nested_nrows: Sequence[Any] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Several ragged dims, the outermost first."""
        counts = nested_nrows or [None] * len(nested_value_rowids)
        pairs = list(zip(nested_value_rowids, counts, strict=True))
        return cls._nest(lambda values, pair: cls.from_value_rowids(values, *pair), flat_values, pairs)

    @staticmethod
    def _nest(make: Any, flat_values: Any, partitions: Sequence[Any]) -> Any:
        if isinstance(partitions, RaggedTensor) or not isinstance(partitions, list | tuple):
            raise TypeError(f"Expected a list with the rows of each ragged dim, got {type(partitions).__name__}.")
        result = construction.as_values(flat_values)
        for each in reversed(partitions):
            result = make(result, each)
        return result

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = "int64",
    ) -> RaggedTensor:
        """The rows of a dense tensor: whole, without ``padding`` at their ends, or only their first ``lengths``."""
        if is_ragged(tensor):
            return cast(RaggedTensor, tensor)
        tensor, ragged_rank = construction.as_values(tensor), int(ragged_rank)
        if not 0 < ragged_rank < max(tensor.ndim, 1):
            raise ValueError(f"from_tensor: ragged_rank is {ragged_rank}, and the tensor has {tensor.ndim} dims.")
        if lengths is not None and padding is not None:
            raise ValueError("from_tensor: pass lengths or padding, not both.")
        if isinstance(lengths, list | tuple) and lengths and np.ndim(lengths[0]) > 0:  # nested row lengths
            return cls._cut_nested(tensor, lengths)
        if ragged_rank > 1:
            shape = tensor.shape
            merged = tensor.reshape(int(shape[0]) * int(shape[1]), *shape[2:])
            inner = cls.from_tensor(merged, padding=padding, ragged_rank=ragged_rank - 1)
            return cls.from_uniform_row_length(inner, int(shape[1]), nrows=int(shape[0]))
        if padding is not None:
            lengths = construction.unpadded_lengths(tensor, padding)
        if lengths is not None:
            return RaggedTensor(*construction.cut_rows(tensor, lengths))
        rows, width = int(tensor.shape[0]), int(tensor.shape[1])
        flat = tensor.reshape(rows * width, *tensor.shape[2:])
        return cls.from_uniform_row_length(flat, width, nrows=rows)

    @classmethod
    def _cut_nested(cls, tensor: Any, lengths: Sequence[Any]) -> RaggedTensor:
        first, *rest = lengths
        cut = RaggedTensor(*construction.cut_rows(tensor, first))
        if not rest:
            return cut
        inner = cls._cut_nested(cut.values, rest) if len(rest) > 1 else cls.from_tensor(cut.values, lengths=rest[0])
        return cut.with_values(inner)

    @classmethod
    def from_sparse(cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = "int64") -> RaggedTensor:
        """The rows of a sparse matrix whose values are at the beginnings of the rows."""
        indices = static_value(st_input.indices, "from_sparse: the indices").reshape(-1, 2)
        columns = st_input.values
        ragged = cls.from_value_rowids(columns, indices[:, 0], nrows=int(st_input.dense_shape[0]))
        expected = partition.positions_in_rows(ragged.row_splits, ragged.num_values())
        if not np.array_equal(indices[:, 1], expected):
            raise ValueError("from_sparse: the rows have gaps. Expected values in the first columns of each row.")
        return ragged

    # Properties

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self.flat_values.dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape, with None for ragged dims."""
        inner = self.values.shape if is_ragged(self.values) else TensorShape(self.values.shape)
        return TensorShape([self.num_rows(), self.uniform_row_length, *inner[1:]])

    def get_shape(self) -> TensorShape:
        """The shape, with None for ragged dims."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raises ValueError if the shape is not compatible with this one."""
        self.shape.assert_is_compatible_with(shape)

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.shape)

    @property
    def ragged_rank(self) -> int:
        """How many dims are partitioned by row splits."""
        return ragged_rank_of(self)

    @property
    def flat_values(self) -> Any:
        """The innermost values, a dense tensor."""
        return flat_values_of(self)

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all ragged dims, the outermost first."""
        return tuple(level.row_splits for level in self._levels())

    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """The lengths of the rows of all ragged dims."""
        return tuple(level.lengths() for level in self._levels())

    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """The row of each value, for all ragged dims."""
        return tuple(level.rowids() for level in self._levels())

    def _levels(self) -> Iterator[RaggedBase]:
        level: Any = self
        while is_ragged(level):
            yield level
            level = level.values

    # Rows

    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """The number of rows."""
        return to_host_tensor(np.asarray(self.num_rows(), np.int64 if out_type is None else as_dtype(out_type).dtype))

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows; of those of an inner ragged dim as a ragged tensor."""
        axis = static_int(axis)
        axis += self.rank if axis < 0 else 0
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self.lengths()
        if is_ragged(self.values):
            return self.with_values(self.values.row_lengths(axis - 1))
        width = int(self.values.shape[axis - 1])
        return self.with_values(to_host_tensor(np.full(self.values.shape[: axis - 1], width, np.int64)))

    def row_starts(self, name: str | None = None) -> Any:
        """Where each row begins."""
        return self.row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Any:
        """Where each row ends."""
        return self.row_splits[1:]

    def value_rowids(self, name: str | None = None) -> Any:
        """The row of each value."""
        return self.rowids()

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Any:
        """The shape of the smallest dense tensor that holds all rows."""
        dtype = np.dtype(np.int64) if out_type is None else as_dtype(out_type).dtype
        sizes = np.array(bounding_sizes(self), dtype)
        return to_host_tensor(sizes if axis is None else sizes[static_value(axis, "axis")])

    # Other rows or values

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values."""
        new_values = construction.as_values(new_values)
        if len_of(new_values) != self.num_values():
            raise ValueError(f"with_values: got {len_of(new_values)} values. Expected {self.num_values()}, as before.")
        return RaggedTensor(new_values, self.row_splits, self.uniform_row_length)

    def with_flat_values(self, new_values: Any) -> Any:
        """The same rows of other innermost values."""
        return with_flat_values_of(self, construction.as_values(new_values))

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same rows, with row splits of this dtype."""
        inner = self.values.with_row_splits_dtype(dtype) if isinstance(self.values, RaggedTensor) else self.values
        return RaggedTensor(inner, self.row_splits.astype(as_dtype(dtype).dtype), self.uniform_row_length)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Two dims, and those between them, as one."""
        rank = self.rank
        outer, inner = (static_int(axis) + (rank if static_int(axis) < 0 else 0) for axis in (outer_axis, inner_axis))
        if not 0 <= outer <= inner < rank:
            raise ValueError(
                f"merge_dims({outer_axis}, {inner_axis}): expected two dims of {rank} in increasing order."
            )
        return merge_dims(self, outer, inner)

    # Conversions

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> Any:
        """A dense tensor; rows are padded to the length of the longest, or to ``shape``.

        >>> RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).to_tensor().tolist()
        [[1, 2], [3, 0]]
        """
        sizes = None
        if shape is not None:
            known = shape if isinstance(shape, list | tuple) else static_shape(shape)
            sizes = [None if size is None or static_int(size) < 0 else static_int(size) for size in known]
        return pad_rows(self, default_value, sizes)

    def to_sparse(self, name: str | None = None) -> Any:
        """A sparse tensor with the values of each row in its first columns."""
        return call_op("sparse.from_ragged", self)

    def to_list(self) -> list[Any]:
        """Nested Python lists; text as bytes."""
        return to_nested_list(self)

    def numpy(self) -> Any:
        """A NumPy array, of arrays if the rows have different lengths."""
        return to_nested_array(self)

    def __getitem__(self, key: Any) -> Any:
        return get_item(self, key)

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(self.num_rows()))

    def __len__(self) -> int:
        return self.num_rows()

    def __bool__(self) -> bool:
        raise TypeError("A ragged tensor is neither true nor false. Use tf.reduce_any(x) or tf.reduce_all(x).")

    def __repr__(self) -> str:
        return to_text(self)

    # A leaf of an element of a dataset

    def leaf_spec(self) -> RaggedTensorSpec:
        """What it looks like."""
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, as_dtype(self.row_splits.dtype))

    def to_host(self) -> RaggedTensor:
        """The same with NumPy arrays."""
        return self.with_flat_values(np.asarray(self.flat_values)) if isinstance(self.flat_values, jax.Array) else self

    def file_parts(self) -> tuple[str, list[Any], Any]:
        """The flat values and the row splits."""
        uniform = [level.uniform_row_length for level in self._levels()]
        return "ragged", [self.flat_values, *self.nested_row_splits], uniform

    def model_input(self) -> Any:
        """Padded rows and their lengths; text as it is, for layers that run on the host."""
        if self.dtype.name == "string":
            return self
        return PaddedRagged.make(self.dense(), np.asarray(self.lengths(), np.int32))

    def dense(self) -> Any:
        """Padded rows."""
        padded = self.to_tensor()
        return np.asarray(padded) if isinstance(padded, HostTensor) else padded

    def take_row(self, row: int) -> Any:
        """One row; a dense one remembers that others may have other lengths."""
        found = self[row]
        return found if is_ragged(found) else RaggedRow(found)

    def take_rows(self, rows: Any) -> Any:
        """Several rows."""
        return gather_rows(self, np.arange(self.num_rows())[rows])

    @classmethod
    def stack_leaves(cls, leaves: Sequence[Any]) -> Any:
        """Several tensors as one, with one row for each."""
        lengths = np.array([leaf.num_rows() for leaf in leaves], np.int64)
        return RaggedTensor(concat_rows(leaves), partition.splits_from_lengths(lengths))

    @classmethod
    def concatenate_leaves(cls, leaves: Sequence[Any]) -> Any:
        """The rows of several tensors in one."""
        return concat_rows(leaves)

    # Operators

    __hash__ = None  # type: ignore[assignment]
    __add__, __radd__ = binary_operators("math.add")
    __sub__, __rsub__ = binary_operators("math.subtract")
    __mul__, __rmul__ = binary_operators("math.multiply")
    __truediv__, __rtruediv__ = binary_operators("math.truediv")
    __floordiv__, __rfloordiv__ = binary_operators("math.floordiv")
    __mod__, __rmod__ = binary_operators("math.floormod")
    __pow__, __rpow__ = binary_operators("math.pow")
    __and__, __rand__ = binary_operators("math.logical_and")
    __or__, __ror__ = binary_operators("math.logical_or")
    __xor__, __rxor__ = binary_operators("math.logical_xor")
    __eq__, _ = binary_operators("math.equal")
    __ne__, _ = binary_operators("math.not_equal")
    __lt__, _ = binary_operators("math.less")
    __le__, _ = binary_operators("math.less_equal")
    __gt__, _ = binary_operators("math.greater")
    __ge__, _ = binary_operators("math.greater_equal")

    def __neg__(self) -> Any:
        return call_op("math.negative", self)

    def __abs__(self) -> Any:
        return call_op("math.abs", self)

    def __invert__(self) -> Any:
        return call_op("math.logical_not", self)

    def __reduce__(self) -> Any:
        return RaggedTensor, (self.values, self.row_splits, self.uniform_row_length)


def _from_file(arrays: list[Any], uniform: list[int | None]) -> Any:
    flat, *splits = arrays
    if not splits:
        return RaggedRow(flat)
    result: Any = to_host_tensor(flat)
    for each, length in reversed(list(zip(splits, uniform, strict=True))):
        result = RaggedTensor(result, to_host_tensor(each), length)
    return result


register_file_kind("ragged", _from_file)
RaggedTensorSpec.value_type = RaggedTensor
