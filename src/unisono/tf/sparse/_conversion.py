"""Between sparse, dense and ragged tensors: `from_dense`, `to_dense`, `eye`, `to_indicator`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf._dtypes import as_dtype
from unisono.tf._op import op, op_without_folding
from unisono.tf._operands import static_int, static_value
from unisono.tf._tensors import as_array, as_bytes, convert_to_tensor, is_text, to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import is_ragged
from unisono.tf.ragged._padding import bounding_sizes
from unisono.tf.sparse._sparse_tensor import SparseTensor, as_sparse, is_traced, known_indices


@op
def from_dense(tensor: Any) -> Any:
    """The values that are not zero; of text, those that are not empty.

    >>> from_dense([[0, 3], [4, 0]]).values.tolist()
    [3, 4]
    """
    dense = to_host_tensor(tensor) if isinstance(tensor, np.ndarray) else convert_to_tensor(tensor)
    plain = static_value(dense, "tf.sparse.from_dense: the tensor")
    if plain.dtype.kind in "OSUT":
        filled = np.frompyfunc(lambda each: len(each) > 0, 1, 1)(plain).astype(bool)
    else:
        filled = plain != 0
    indices = np.argwhere(filled)
    values = plain[filled]
    return SparseTensor(indices, to_host_tensor(values) if isinstance(dense, np.ndarray) else values, plain.shape)


@op
def to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True) -> Any:
    """The whole tensor, with ``default_value`` where there is no value. A dense tensor is returned unchanged.

    >>> to_dense(SparseTensor([[0, 1]], [5], [2, 2])).tolist()
    [[0, 5], [0, 0]]
    """
    return convert_to_tensor(sp_input)


def densify(sp_input: Any, default_value: Any = None, validate_indices: bool = True) -> Any:
    """:func:`to_dense` of a sparse tensor, also in compiled functions."""
    tensor = as_sparse(sp_input, "to_dense")
    values, sizes = tensor.values, tensor.dense_sizes
    if isinstance(values, np.ndarray) and not is_traced(tensor.indices):
        plain = np.asarray(values)
        dense = np.full(sizes, _default(plain.dtype, default_value), plain.dtype)
        dense[tuple(np.asarray(tensor.indices).T)] = plain
        return to_host_tensor(dense)
    indices = tensor.indices if is_traced(tensor.indices) else np.asarray(tensor.indices)
    start = jnp.zeros((), values.dtype) if default_value is None else as_array(default_value, values.dtype)
    return jnp.broadcast_to(start, sizes).at[tuple(indices[:, axis] for axis in range(len(sizes)))].set(values)


def _default(dtype: Any, value: Any) -> Any:
    if value is None:
        return b"" if dtype.kind == "O" else np.zeros((), dtype)
    return as_bytes(np.asarray(value).item()) if is_text(value) else np.asarray(value).astype(dtype)


@op
def from_ragged(ragged: Any) -> Any:
    """A sparse tensor with the values of each row in its first columns; `RaggedTensor.to_sparse`."""
    raise TypeError("Expected a ragged tensor.")


def sparsify_ragged(ragged: Any) -> SparseTensor:
    """:func:`from_ragged` of a ragged tensor."""
    sizes = bounding_sizes(ragged)
    levels = []
    level: Any = ragged
    while is_ragged(level):
        levels.append(level)
        level = level.values
    shape = tuple(int(size) for size in level.shape)
    inner = np.indices(shape).reshape(len(shape), -1)
    position, columns = inner[0], list(inner[1:])
    for each in reversed(levels):
        splits = partition.known_splits(each.row_splits, "to_sparse()")
        row = np.asarray(each.rowids())[position]
        columns.insert(0, position - splits[row])
        position = row
    return SparseTensor(np.stack([position, *columns], axis=1), level.reshape(-1), sizes)


@op_without_folding
def eye(num_rows: Any, num_columns: Any = None, dtype: Any = "float32") -> Any:
    """Ones on the diagonal."""
    rows = static_int(num_rows)
    columns = rows if num_columns is None else static_int(num_columns)
    number = np.arange(min(rows, columns))
    values = as_array(np.ones(len(number), as_dtype(dtype).dtype), dtype)
    return SparseTensor(np.stack([number, number], axis=1), values, (rows, columns))


@op
def to_indicator(sp_input: Any, vocab_size: Any) -> Any:
    """A bool for each number below ``vocab_size``: whether it is among the values of a row."""
    tensor = as_sparse(sp_input, "to_indicator")
    ids = static_value(tensor.values, "tf.sparse.to_indicator: the values")
    size = static_int(vocab_size)
    dense = np.zeros((*tensor.dense_sizes[:-1], size), bool)
    inside = (ids >= 0) & (ids < size)
    indices = known_indices(tensor, "tf.sparse.to_indicator")[inside]
    dense[(*indices[:, :-1].T, ids[inside])] = True
    return to_host_tensor(dense)
