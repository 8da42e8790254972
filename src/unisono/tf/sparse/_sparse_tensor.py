"""`tf.SparseTensor`: the values of a tensor that are not zero, and their indices."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from unisono._src import keras_hooks
from unisono._src.data.plans import register_file_kind
from unisono.tf._composite import CompositeTensor
from unisono.tf._dtypes import DType, as_dtype
from unisono.tf._op import binary_operators, call_op
from unisono.tf._operands import as_bytes_array, static_shape
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import HostTensor, convert_to_tensor, is_text, to_host_tensor
from unisono.tf.sparse._spec import SparseTensorSpec

TRACED_INDICES = """{what} needs the indices of a sparse tensor, which are not known inside a compiled function when it
is traced. On several replicas and in the steps of `fit` the function cannot run on the host. Call it outside, in
dataset.map for example, or use tf.sparse.to_dense(x) inside."""


class SparseTensor(CompositeTensor):
    """Values at indices, in coordinate format; zeros elsewhere.

    >>> SparseTensor(indices=[[0, 3], [2, 4]], values=[10, 20], dense_shape=[3, 10]).shape
    TensorShape([3, 10])

    It is a pytree of JAX. The shape is known inside compiled functions; indices and values of arguments are not.

    Args:
        indices: a row with the indices of each value.
        values: the values.
        dense_shape: the shape of the whole tensor.
    """

    advice = "Apply it to the values, tf.sparse.map_values(tf.{name}, x), or use tf.sparse.to_dense(x) first."

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.dense_sizes = static_shape(dense_shape, "dense_shape")
        rank = len(self.dense_sizes)
        if not is_traced(indices):
            plain = np.asarray(indices)
            plain = plain.reshape(-1, rank) if not plain.size else plain
            if plain.ndim != 2 or plain.shape[1] != rank:
                raise ValueError(f"SparseTensor: indices have the shape {plain.shape}. Expected [values, {rank}].")
            indices = to_host_tensor(plain.astype(np.int64))
        self.indices = indices
        self.values = _as_values(values)
        if self.values.ndim != 1 or self.values.shape[0] != self.indices.shape[0]:
            raise ValueError(
                f"SparseTensor: {self.indices.shape[0]} indices, and values of the shape {tuple(self.values.shape)}."
            )

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """From anything with `indices`, `values` and `dense_shape`."""
        value = sparse_tensor_value
        return value if isinstance(value, SparseTensor) else cls(value.indices, value.values, value.dense_shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self.values.dtype)

    @property
    def dense_shape(self) -> Any:
        """The shape as a tensor."""
        return to_host_tensor(np.array(self.dense_sizes, np.int64))

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape(self.dense_sizes)

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raises ValueError if the shape is not compatible with this one."""
        self.shape.assert_is_compatible_with(shape)

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.dense_sizes)

    def with_values(self, new_values: Any) -> SparseTensor:
        """The same indices with other values."""
        return SparseTensor(self.indices, new_values, self.dense_sizes)

    def numpy(self) -> Any:
        """Indices, values and shape as NumPy arrays."""
        return SparseTensorValue(np.asarray(self.indices), np.asarray(self.values), np.asarray(self.dense_shape))

    # A leaf of an element of a dataset

    def leaf_spec(self) -> SparseTensorSpec:
        """What it looks like."""
        return SparseTensorSpec(self.shape, self.dtype)

    def to_host(self) -> SparseTensor:
        """The same with NumPy arrays."""
        return SparseTensor(np.asarray(self.indices), np.asarray(self.values), self.dense_sizes)

    def file_parts(self) -> tuple[str, list[Any], Any]:
        """The indices and the values."""
        return "sparse", [self.indices, self.values], list(self.dense_sizes)

    def model_input(self) -> Any:
        """The whole tensor."""
        return self.dense()

    def dense(self) -> Any:
        """The whole tensor, with zeros where there is no value."""
        found = call_op("sparse.to_dense", self)
        return np.asarray(found) if isinstance(found, HostTensor) else found

    def take_row(self, row: int) -> SparseTensor:
        """One row."""
        order, splits = self._values_by_row
        chosen = order[splits[row] : splits[row + 1]]
        return SparseTensor(np.asarray(self.indices)[chosen][:, 1:], take(self.values, chosen), self.dense_sizes[1:])

    def take_rows(self, rows: Any) -> SparseTensor:
        """Several rows."""
        return SparseTensor.stack_leaves([self.take_row(row) for row in np.arange(self.dense_sizes[0])[rows].tolist()])

    @functools.cached_property
    def _values_by_row(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The positions of the values ordered by row, and where each row begins."""
        rows = known_indices(self, "The rows of a sparse tensor")[:, 0]
        counts = np.bincount(rows, minlength=self.dense_sizes[0])
        return np.argsort(rows, kind="stable"), np.concatenate([[0], np.cumsum(counts)])

    @classmethod
    def stack_leaves(cls, leaves: Sequence[Any]) -> SparseTensor:
        """Several tensors as one, with one row for each, as large as the largest of them."""
        parts = [np.insert(np.asarray(leaf.indices), 0, number, axis=1) for number, leaf in enumerate(leaves)]
        sizes = np.max([leaf.dense_sizes for leaf in leaves], axis=0).astype(int).tolist()
        values = np.concatenate([np.asarray(leaf.values) for leaf in leaves])
        return SparseTensor(np.concatenate(parts), to_host_tensor(values), (len(leaves), *sizes))

    @classmethod
    def concatenate_leaves(cls, leaves: Sequence[Any]) -> SparseTensor:
        """The rows of several tensors in one."""
        rows = [leaf.take_row(row) for leaf in leaves for row in range(leaf.dense_sizes[0])]
        return cls.stack_leaves(rows)

    # Operators

    __mul__, __rmul__ = binary_operators("math.multiply")
    __truediv__, _ = binary_operators("math.truediv")

    def __neg__(self) -> Any:
        return call_op("math.negative", self)

    def __abs__(self) -> Any:
        return call_op("math.abs", self)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices}, values={self.values}, dense_shape={self.dense_shape})"

    def __reduce__(self) -> Any:
        return SparseTensor, (self.indices, self.values, self.dense_sizes)


class SparseTensorValue:
    """Indices, values and shape as NumPy arrays."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices, self.values, self.dense_shape = indices, values, dense_shape

    def __repr__(self) -> str:
        return f"SparseTensorValue(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape!r})"


def is_traced(value: Any) -> bool:
    """Whether it is known only when a compiled function runs."""
    return isinstance(value, jax.core.Tracer)


def known_indices(tensor: SparseTensor, what: str) -> np.ndarray[Any, Any]:
    """The indices as a NumPy array. A compiled function that needs them runs on the host, or they are an error."""
    if is_traced(tensor.indices):
        keras_hooks.run_on_host_if_possible(f"{what} needs the indices of a sparse tensor")
        raise ValueError(TRACED_INDICES.format(what=what))
    return np.asarray(tensor.indices)


def as_sparse(value: Any, name: str) -> SparseTensor:
    """The argument of a function of `tf.sparse`."""
    if isinstance(value, SparseTensor):
        return value
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    raise TypeError(
        f"tf.sparse.{name}: expected a SparseTensor, got {type(value).__name__}. Use tf.sparse.from_dense(x)."
    )


def take(values: Any, positions: Any) -> Any:
    """Values by position; those on the host stay there."""
    if isinstance(values, np.ndarray):
        return to_host_tensor(np.asarray(values)[np.asarray(positions)])
    return values[np.asarray(positions)]


def _as_values(values: Any) -> Any:
    if isinstance(values, HostTensor | jax.Array):
        return values
    if is_text(values):
        return to_host_tensor(as_bytes_array(values))
    return to_host_tensor(values) if isinstance(values, np.ndarray) else convert_to_tensor(values)


def _unflatten(sizes: tuple[int, ...], parts: Any) -> SparseTensor:
    tensor = object.__new__(SparseTensor)
    tensor.dense_sizes = sizes
    tensor.indices, tensor.values = parts
    return tensor


jax.tree_util.register_pytree_node(
    SparseTensor, lambda tensor: ((tensor.indices, tensor.values), tensor.dense_sizes), _unflatten
)

register_file_kind("sparse", lambda arrays, sizes: SparseTensor(arrays[0], arrays[1], sizes))


SparseTensorSpec.value_type = SparseTensor
