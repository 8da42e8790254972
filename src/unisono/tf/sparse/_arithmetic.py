"""Sums, products, reductions and matrix products of sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import get_op, op
from unisono.tf._operands import static_axes, static_value
from unisono.tf._tensors import as_array, to_host_tensor
from unisono.tf.ragged._base import concat_dense
from unisono.tf.ragged._reductions import MAXIMUM, SUM, Segments
from unisono.tf.sparse._conversion import densify
from unisono.tf.sparse._rearrange import select
from unisono.tf.sparse._sparse_tensor import SparseTensor, as_sparse, is_traced, known_indices


@op
def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum of two sparse tensors, a sparse one; of a sparse and a dense one, a dense one.

    Values of a sparse sum whose magnitude is below ``threshold`` are left out.
    """
    if not isinstance(a, SparseTensor):
        a, b = b, a
    tensor = as_sparse(a, "add")
    if not isinstance(b, SparseTensor):
        return get_op("math.add")(densify(tensor), b)
    _check_same_shape(tensor, b, "add")
    total = _combine(SUM, tensor, b, "add")
    if not static_value(threshold, "threshold"):
        return total
    magnitude = np.abs(static_value(total.values, "tf.sparse.add with a threshold: the values"))
    return select(total, np.flatnonzero(magnitude >= static_value(threshold, "threshold")))


@op
def maximum(sp_a: Any, sp_b: Any) -> Any:
    """The larger value at each index; an index that one lacks counts as zero."""
    return _extreme(MAXIMUM, sp_a, sp_b, "maximum")


@op
def minimum(sp_a: Any, sp_b: Any) -> Any:
    """The smaller value at each index; an index that one lacks counts as zero."""
    negated = [
        tensor.with_values(-tensor.values) for tensor in (as_sparse(sp_a, "minimum"), as_sparse(sp_b, "minimum"))
    ]
    result = _extreme(MAXIMUM, negated[0], negated[1], "minimum")
    return result.with_values(-result.values)


def _extreme(kind: Segments, sp_a: Any, sp_b: Any, name: str) -> SparseTensor:
    first, second = as_sparse(sp_a, name), as_sparse(sp_b, name)
    _check_same_shape(first, second, name)

    def with_zeros(tensor: SparseTensor, other: SparseTensor) -> SparseTensor:
        indices = np.concatenate([known_indices(each, f"tf.sparse.{name}") for each in (tensor, other)])
        zeros = np.zeros(other.values.shape[0], np.asarray(other.values).dtype)
        values = concat_dense([tensor.values, to_host_tensor(zeros)])
        return _combine(SUM, SparseTensor(indices, values, tensor.dense_sizes), None, name)

    return _combine(kind, with_zeros(first, second), with_zeros(second, first), name)


def _combine(kind: Segments, a: SparseTensor, b: SparseTensor | None, name: str) -> SparseTensor:
    """The values of both at the same index combined, ordered by index."""
    tensors = [a] if b is None else [a, b]
    indices = np.concatenate([known_indices(each, f"tf.sparse.{name}") for each in tensors])
    distinct, ids = np.unique(indices, axis=0, return_inverse=True)
    values = kind.reduce(concat_dense([each.values for each in tensors]), ids.reshape(-1), len(distinct))
    return SparseTensor(distinct, values, a.dense_sizes)


def _check_same_shape(a: SparseTensor, b: Any, name: str) -> None:
    if a.dense_sizes != as_sparse(b, name).dense_sizes:
        raise ValueError(f"tf.sparse.{name}: the shapes {a.dense_sizes} and {b.dense_sizes} differ.")


@op
def sparse_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False) -> Any:
    """The product of a sparse and a dense matrix, a dense one. Either may be the sparse one."""
    if isinstance(b, SparseTensor):
        left = get_op("linalg.matrix_transpose")(sp_a) if not adjoint_a else as_array(sp_a)
        return multiply_matrices(b, left, not adjoint_b, False).T
    return multiply_matrices(as_sparse(sp_a, "sparse_dense_matmul"), b, adjoint_a, adjoint_b)


def multiply_matrices(a: SparseTensor, b: Any, adjoint_a: bool, adjoint_b: bool) -> Any:
    """Adds up rows of the dense matrix, weighted by the values; in compiled functions as well."""
    dense = as_array(b)
    dense = jnp.conj(dense).T if adjoint_b else dense
    if a.rank != 2 or dense.ndim != 2:
        raise ValueError(f"tf.sparse.sparse_dense_matmul: expected two matrices, got {a.shape} and {dense.shape}.")
    indices = a.indices if is_traced(a.indices) else np.asarray(a.indices)
    rows, columns, size = indices[:, 0], indices[:, 1], a.dense_sizes
    values = as_array(a.values)
    if adjoint_a:
        rows, columns, size, values = columns, rows, size[::-1], jnp.conj(values)
    if size[1] != dense.shape[0]:
        raise ValueError(f"tf.sparse.sparse_dense_matmul: {size} and {tuple(dense.shape)} cannot be multiplied.")
    return jax.ops.segment_sum(values[:, None] * dense[columns], rows, size[0])


@op
def reduce_sum(sp_input: Any, axis: Any = None, keepdims: bool = False, output_is_sparse: bool = False) -> Any:
    """The sum of the values along dims; of all if ``axis`` is None."""
    return _reduce(SUM, as_sparse(sp_input, "reduce_sum"), axis, keepdims, output_is_sparse)


@op
def reduce_max(sp_input: Any, axis: Any = None, keepdims: bool = False, output_is_sparse: bool = False) -> Any:
    """The maximum of the values along dims, without the zeros between them; 0 where there are no values."""
    return _reduce(MAXIMUM, as_sparse(sp_input, "reduce_max"), axis, keepdims, output_is_sparse)


def _reduce(kind: Segments, tensor: SparseTensor, axis: Any, keepdims: bool, sparse: bool) -> Any:
    axes = static_axes(axis)
    chosen = range(tensor.rank) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    reduced = {each % tensor.rank for each in chosen}
    kept = [dim for dim in range(tensor.rank) if dim not in reduced]
    sizes = [tensor.dense_sizes[dim] for dim in kept]
    indices = known_indices(tensor, "A reduction of a sparse tensor")
    flat = np.zeros(len(indices), np.int64)
    if kept and len(indices):
        flat = np.ravel_multi_index(tuple(indices[:, kept].T), sizes)
    distinct, ids = np.unique(flat, return_inverse=True)
    values = kind.reduce(tensor.values, ids.reshape(-1), len(distinct))
    where = np.stack(np.unravel_index(distinct, sizes), axis=1) if kept else np.zeros((len(distinct), 0), np.int64)
    result = SparseTensor(where, values, sizes) if kept else None
    if result is None:
        total = values.reshape(()) if len(distinct) else np.zeros((), np.asarray(values).dtype)
        return as_array(total).reshape([1] * tensor.rank if keepdims else [])
    if keepdims:
        for dim in sorted(reduced):
            result = get_op("sparse.expand_dims")(result, dim)
    return result if sparse else densify(result)


@op
def softmax(sp_input: Any) -> Any:
    """Softmax of the values of each row; missing values count as minus infinity."""
    tensor = as_sparse(sp_input, "softmax")
    indices = known_indices(tensor, "tf.sparse.softmax")
    distinct, rows = np.unique(indices[:, :-1], axis=0, return_inverse=True)
    rows, number = rows.reshape(-1), len(distinct)
    values = as_array(tensor.values)
    powers = jnp.exp(values - MAXIMUM.reduce(values, rows, number)[rows])
    return tensor.with_values(powers / SUM.reduce(powers, rows, number)[rows])


@op
def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function with the values of all sparse arguments, which have the same indices.

    >>> map_values(lambda x: x + 5, SparseTensor([[0, 1]], [1], [2, 2])).values.tolist()
    [6]
    """
    raise ValueError("tf.sparse.map_values: no argument is a SparseTensor.")


def apply_to_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """:func:`map_values` with a sparse argument."""
    tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, SparseTensor)]
    first = tensors[0]
    for other in tensors[1:]:
        if other.dense_sizes != first.dense_sizes or (
            not is_traced(first.indices)
            and not np.array_equal(first.indices, known_indices(other, "tf.sparse.map_values"))
        ):
            raise ValueError("tf.sparse.map_values: the sparse arguments have different indices.")

    def values_of(value: Any) -> Any:
        return value.values if isinstance(value, SparseTensor) else value

    result = op(*map(values_of, args), **{name: values_of(each) for name, each in kwargs.items()})
    return first.with_values(result)


def multiply(x: Any, y: Any) -> Any:
    """`sparse * dense`: a sparse tensor."""
    return _times_dense(get_op("math.multiply"), *((x, y) if isinstance(x, SparseTensor) else (y, x)))


def divide(x: Any, y: Any) -> Any:
    """`sparse / dense`: a sparse tensor."""
    if not isinstance(x, SparseTensor):
        raise TypeError("A dense tensor cannot be divided by a sparse one: the zeros. Use tf.sparse.to_dense(y).")
    return _times_dense(get_op("math.truediv"), x, y)


def _times_dense(function: Callable[..., Any], tensor: SparseTensor, dense: Any) -> SparseTensor:
    if isinstance(dense, SparseTensor):
        raise TypeError("Two sparse tensors cannot be multiplied by `*`. Use tf.sparse.to_dense for one of them.")
    if np.ndim(dense) == 0:
        return tensor.with_values(function(tensor.values, dense))
    array = jnp.broadcast_to(as_array(dense), tensor.dense_sizes)
    indices = tensor.indices if is_traced(tensor.indices) else np.asarray(tensor.indices)
    return tensor.with_values(function(tensor.values, array[tuple(indices[:, dim] for dim in range(tensor.rank))]))


@op
def sampled_addmm(
    indices: Any,
    values: Any,
    dense_shape: Any,
    mat1: Any,
    mat2: Any,
    beta: Any = 1.0,
    alpha: Any = 1.0,
    output_type: Any = "float32",
) -> Any:
    """`alpha * (mat1 @ mat2) + beta * values` at the indices of a sparse matrix only."""
    where = static_value(indices, "tf.sparse.sampled_addmm: the indices")
    left, right = as_array(mat1), as_array(mat2)
    products = jnp.sum(left[where[:, 0]] * right[:, where[:, 1]].T, axis=1)
    return indices, alpha * products + beta * as_array(values), dense_shape
