"""`tf.gather`, `tf.gather_nd`, `tf.boolean_mask` and sorting of ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.tf._op import get_op
from unisono.tf._operands import static_int, static_value
from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import flat_values_of, gather_rows, is_ragged, len_of
from unisono.tf.ragged._ragged_tensor import RaggedTensor
from unisono.tf.ragged._structure_ops import as_tensor


def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: Any = 0) -> Any:
    params = as_tensor(params)
    batch = static_int(batch_dims)
    batch += len(indices.shape) if batch < 0 else 0
    axis = batch if axis is None else static_int(axis) % len(params.shape)
    return _gather(params, indices, axis, batch)


def _gather(params: Any, indices: Any, axis: int, batch: int) -> Any:
    if is_ragged(indices):
        if batch:
            return _gather_in_rows(params, indices, axis, batch)
        return indices.with_rows_of(_gather(params, indices.values, axis, 0))
    if batch:
        return _gather_in_rows(params, RaggedTensor.from_tensor(indices), axis, batch)
    if axis > 0:
        if not is_ragged(params):
            return get_op("gather")(params, indices, axis=axis)
        if axis == 1 and params.uniform_row_length is None:
            raise ValueError("tf.gather along a ragged dim: rows of different lengths. Use batch_dims=1.")
        if axis == 1:
            numbers = static_value(indices, "tf.gather: the indices").reshape(-1)
            starts = np.arange(params.num_rows())[:, None] * params.uniform_row_length
            inner = gather_rows(params.values, (starts + numbers).reshape(-1))
            return RaggedTensor.from_uniform_row_length(inner, len(numbers), nrows=params.num_rows())
        return params.with_rows_of(_gather(params.values, indices, axis - 1, 0))
    if not is_ragged(params):
        return get_op("gather")(params, indices)
    numbers = static_value(indices, "tf.gather of a ragged tensor: the indices")
    if numbers.ndim == 0:
        return params[int(numbers)]
    rows = gather_rows(params, numbers.reshape(-1))
    for width in reversed(numbers.shape[1:]):
        rows = RaggedTensor.from_uniform_row_length(rows, width)
    return rows


def _gather_in_rows(params: Any, indices: Any, axis: int, batch: int) -> Any:
    """Row ``i`` of the indices chooses from row ``i``."""
    if not is_ragged(params):
        params = RaggedTensor.from_tensor(params)
    if params.num_rows() != indices.num_rows():
        raise ValueError(f"tf.gather: {params.num_rows()} rows, and {indices.num_rows()} rows of indices.")
    if batch > 1:
        if axis > batch:
            raise ValueError("tf.gather of ragged tensors: expected axis == batch_dims.")
        return indices.with_rows_of(_gather(params.values, indices.values, axis - 1, batch - 1))
    if axis != 1:
        raise ValueError("tf.gather of ragged tensors: expected axis == batch_dims.")
    starts = np.asarray(params.row_splits)[:-1][np.asarray(indices.rowids())]
    inner = indices.values
    if is_ragged(inner):
        flat = flat_values_of(inner)
        rows = np.repeat(starts, np.asarray(inner.lengths()))
        return indices.with_rows_of(inner.with_rows_of(gather_rows(params.values, rows + np.asarray(flat))))
    numbers = static_value(inner, "tf.gather: the indices")
    if numbers.ndim == 1:
        return indices.with_rows_of(gather_rows(params.values, starts + numbers))
    shaped = starts.reshape(-1, *[1] * (numbers.ndim - 1)) + numbers
    taken = gather_rows(params.values, shaped.reshape(-1))
    if not is_ragged(taken):
        return indices.with_rows_of(taken.reshape(*numbers.shape, *taken.shape[1:]))
    for width in reversed(numbers.shape[1:]):
        taken = RaggedTensor.from_uniform_row_length(taken, width)
    return indices.with_rows_of(taken)


def gather_nd(params: Any, indices: Any, batch_dims: Any = 0) -> Any:
    if is_ragged(indices):
        if not is_ragged(indices.values) and indices.values.ndim == 1:
            raise ValueError("tf.gather_nd: the innermost dim of indices is one index, and has one length.")
        return indices.with_rows_of(gather_nd(params, indices.values, batch_dims))
    if not is_ragged(params):
        return get_op("gather_nd")(params, indices)
    numbers = static_value(indices, "tf.gather_nd of a ragged tensor: the indices").astype(np.int64)
    depth = numbers.shape[-1]
    flat = numbers.reshape(-1, depth)
    value: Any = params
    position = flat[:, 0]
    for number in range(1, depth):
        if not is_ragged(value):
            break
        splits = np.asarray(value.row_splits)
        wanted = flat[:, number]
        if ((wanted < 0) | (wanted >= np.diff(splits)[position])).any():
            raise ValueError("tf.gather_nd: an index is outside its row.")
        position = splits[:-1][position] + wanted
        value = value.values
    else:
        taken = gather_rows(value, position)
        return _shape_as(taken, numbers.shape[:-1])
    return get_op("gather_nd")(
        value, np.concatenate([position[:, None], flat[:, number:]], 1).reshape((*numbers.shape[:-1], -1))
    )


def _shape_as(rows: Any, shape: tuple[int, ...]) -> Any:
    if not is_ragged(rows):
        return rows.reshape(*shape, *rows.shape[1:])
    if not shape:
        return rows[0]
    for width in reversed(shape[1:]):
        rows = RaggedTensor.from_uniform_row_length(rows, width)
    return rows


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The values where the mask is true; the dims of the mask stay, as ragged ones.

    >>> boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
    <tf.RaggedTensor [[1, 3], [6]]>
    """
    data = as_tensor(data)
    if not is_ragged(mask):
        plain = static_value(mask, "tf.ragged.boolean_mask: the mask").astype(bool)
        if plain.ndim == 0:
            raise ValueError("tf.ragged.boolean_mask: the mask is a scalar. Expected at least one dim.")
        if plain.ndim == 1:
            return gather_rows(data, np.flatnonzero(plain))
        mask = RaggedTensor.from_tensor(to_host_tensor(plain), ragged_rank=plain.ndim - 1)
    if not is_ragged(data):
        data = RaggedTensor.from_tensor(data)
    if not np.array_equal(np.asarray(data.row_splits), np.asarray(mask.row_splits)):
        raise ValueError("tf.ragged.boolean_mask: the rows of the mask and of the data have different lengths.")
    masked = boolean_mask(data.values, mask.values)
    if is_ragged(mask.values):
        return data.with_rows_of(masked)
    flags = static_value(mask.values, "tf.ragged.boolean_mask: the mask").astype(bool)
    kept = np.bincount(np.asarray(mask.rowids())[flags], minlength=mask.num_rows())
    return RaggedTensor(masked, partition.splits_from_lengths(kept.astype(np.int64)))


def boolean_mask_op(tensor: Any, mask: Any, axis: Any = None) -> Any:
    """`tf.boolean_mask` of a ragged tensor or with a ragged mask."""
    return boolean_mask(tensor, mask)


def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING") -> Any:
    """Sorts each row."""
    order = _row_order(values, axis, direction)
    return values.with_rows_of(gather_rows(values.values, order))


def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False) -> Any:
    order = _row_order(values, axis, direction)
    starts = np.repeat(np.asarray(values.row_splits)[:-1], np.asarray(values.lengths()))
    return values.with_rows_of(to_host_tensor((order - starts).astype(np.int32)))


def _row_order(values: Any, axis: Any, direction: str) -> Any:
    if static_int(axis) not in (1, -1) or len(values.shape) != 2 or len_of(values) != values.num_rows():
        raise ValueError("Sorting of a ragged tensor: expected a matrix and axis=1.")
    flat = static_value(values.values, "Sorting a ragged tensor: the values")
    rank = np.argsort(np.argsort(flat, kind="stable"), kind="stable")
    if direction.upper() == "DESCENDING":
        unique = np.unique(flat, return_inverse=True)[1]
        rank = -unique
    return np.lexsort((np.arange(len(flat)), rank, np.asarray(values.rowids())))
