"""Functions that move rows and values: `concat`, `stack`, `tile`, `reverse`, `where`, `cross` and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.tf._op import get_op
from unisono.tf._operands import as_bytes_array, static_axes, static_int, static_shape, static_value
from unisono.tf._tensors import HostTensor, convert_to_tensor, is_text, to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import (
    concat_dense,
    concat_rows,
    flat_values_of,
    gather_rows,
    is_ragged,
    len_of,
    ragged_rank_of,
    with_flat_values_of,
)
from unisono.tf.ragged._broadcast import broadcast_to_rows, flat_operand
from unisono.tf.ragged._ragged_shape import DynamicRaggedShape
from unisono.tf.ragged._ragged_tensor import RaggedTensor

DIFFERENT_RANKS = "{name}: the tensors have {ranks} dims. Expected equally many."


def as_tensor(value: Any) -> Any:
    """A ragged or a dense tensor."""
    if is_ragged(value) or isinstance(value, HostTensor):
        return value
    if is_text(value):
        return to_host_tensor(as_bytes_array(value))
    return convert_to_tensor(value)


def concat(values: Any, axis: Any) -> Any:
    if is_ragged(values):
        return values
    tensors = check_ranks([as_tensor(each) for each in values], "tf.concat")
    return concat_tensors(tensors, normalize_axis(axis, len(tensors[0].shape)))


def stack(values: Any, axis: Any = 0) -> Any:
    tensors = check_ranks([as_tensor(each) for each in values], "tf.stack")
    axis = normalize_axis(axis, len(tensors[0].shape) + 1)
    return concat_tensors([expand_dim(each, axis) for each in _with_equal_rank(tensors)], axis)


def concat_tensors(tensors: list[Any], axis: int) -> Any:
    """Ragged and dense tensors of one rank, one after the other along a dim."""
    if not any(map(is_ragged, tensors)):
        return concat_dense(tensors) if axis == 0 else get_op("concat")(tensors, axis)
    tensors = _with_equal_rank(tensors)
    if axis == 0:
        return concat_rows(tensors)
    if axis == 1:
        return _concat_columns(tensors)
    inner = concat_tensors([each.values for each in tensors], axis - 1)
    return tensors[0].with_rows_of(inner)


def _concat_columns(tensors: list[Any]) -> Any:
    """The rows of all tensors one below the other, reordered so that those of one row follow each other."""
    rows = {each.num_rows() for each in tensors}
    if len(rows) > 1:
        raise ValueError(f"tf.concat: the tensors have {sorted(rows)} rows. Expected equally many for axis 1.")
    number = rows.pop()
    joined = concat_rows(tensors)
    order = np.arange(len(tensors) * number).reshape(len(tensors), number).T.reshape(-1)
    ordered = gather_rows(joined, order)
    lengths = np.asarray(ordered.lengths()).reshape(number, len(tensors)).sum(axis=1)
    uniform = [each.uniform_row_length for each in tensors]
    total = None if None in uniform else sum(uniform)
    return RaggedTensor(ordered.values, partition.splits_from_lengths(lengths), total)


def _with_equal_rank(tensors: list[Any]) -> list[Any]:
    """All tensors with as many ragged dims as the one that has most."""
    levels = max(map(ragged_rank_of, tensors))
    return [_deepen(each, levels) for each in tensors]


def _deepen(value: Any, levels: int) -> Any:
    if not levels:
        return value
    if not is_ragged(value):
        return RaggedTensor.from_tensor(value, ragged_rank=levels)
    return value.with_rows_of(_deepen(value.values, levels - 1))


def expand_dims(input: Any, axis: Any = 0) -> Any:
    return expand_dim(input, normalize_axis(axis, len(input.shape) + 1))


def expand_dim(value: Any, axis: int) -> Any:
    """Inserts a dim of size 1."""
    if not is_ragged(value) and (axis == 0 or value.ndim >= axis):
        return get_op("expand_dims")(value, axis)
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(value, len_of(value), nrows=1)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(value, 1, nrows=len_of(value))
    return value.with_rows_of(expand_dim(value.values, axis - 1))


def squeeze(input: Any, axis: Any = None) -> Any:
    if axis is None:
        raise ValueError("tf.squeeze of a ragged tensor needs axis=..., the dims of size 1.")
    axes: Any = static_axes(axis)
    rank = len(input.shape)
    result = input
    for each in sorted({one % rank for one in (axes if isinstance(axes, tuple) else (axes,))}, reverse=True):
        result = _squeeze(result, each)
    return result


def _squeeze(value: Any, axis: int) -> Any:
    if not is_ragged(value):
        return get_op("squeeze")(value, axis)
    if axis == 0:
        if value.num_rows() != 1:
            raise ValueError(f"tf.squeeze: dim 0 has the size {value.num_rows()}, not 1.")
        return value.values
    if axis == 1:
        if value.uniform_row_length != 1 and (np.asarray(value.lengths()) != 1).any():
            raise ValueError("tf.squeeze: the rows do not all have the length 1.")
        return value.values
    return value.with_rows_of(_squeeze(value.values, axis - 1))


def tile(input: Any, multiples: Any) -> Any:
    times = static_shape(multiples)
    if len(times) != len(input.shape):
        raise ValueError(f"tf.tile: multiples has {len(times)} numbers, and the tensor has {len(input.shape)} dims.")
    result = input
    for axis in range(len(times) - 1, -1, -1):
        if times[axis] == 0:
            result = result[(*[slice(None)] * axis, slice(0, 0))]
        elif times[axis] != 1:
            result = concat_tensors([result] * times[axis], axis)
    return result


def reverse(tensor: Any, axis: Any) -> Any:
    axes = static_axes(axis)
    rank = len(tensor.shape)
    chosen = {each % rank for each in (axes if isinstance(axes, tuple) else (axes,)) if each is not None}
    return tensor[tuple(slice(None, None, -1) if each in chosen else slice(None) for each in range(rank))]


def repeat(input: Any, repeats: Any, axis: Any = None) -> Any:
    if axis is None:
        return get_op("repeat")(flat_values_of(input), repeats)
    axis = normalize_axis(axis, len(input.shape))
    return _repeat(input, static_value(repeats, "tf.repeat: the number of repeats"), axis)


def _repeat(value: Any, times: Any, axis: int) -> Any:
    if not is_ragged(value):
        return get_op("repeat")(value, times, axis)
    if axis == 0:
        return gather_rows(value, np.repeat(np.arange(value.num_rows()), times))
    if axis > 1:
        return value.with_rows_of(_repeat(value.values, times, axis - 1))
    counts = np.broadcast_to(times, (value.num_values(),))
    lengths = np.bincount(np.asarray(value.rowids()), counts, minlength=value.num_rows()).astype(np.int64)
    inner = gather_rows(value.values, np.repeat(np.arange(value.num_values()), counts))
    return RaggedTensor(inner, partition.splits_from_lengths(lengths))


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return _true_indices(condition)
    template = next(each for each in (condition, x, y) if is_ragged(each))
    for each in (condition, x, y):  # the operand with most values has the rows of the result
        template = broadcast_to_rows(template, each) if is_ragged(each) else template
    parts = [flat_operand(each, template) for each in (condition, x, y)]
    return with_flat_values_of(template, get_op("where")(*parts))


def _true_indices(condition: Any) -> Any:
    if not is_ragged(condition):
        return get_op("where")(condition)
    flat = partition.known_splits(flat_values_of(condition), "tf.where(condition)")
    chosen = np.argwhere(flat)
    columns = [chosen[:, axis] for axis in range(1, chosen.shape[1])]
    position = chosen[:, 0]
    levels = []
    level: Any = condition
    while is_ragged(level):
        levels.append(level)
        level = level.values
    for each in reversed(levels):
        splits = np.asarray(each.row_splits)
        row = np.asarray(each.rowids())[position]
        columns.insert(0, position - splits[row])
        position = row
    return to_host_tensor(np.stack([position, *columns], axis=1).astype(np.int64))


def size(input: Any, out_type: Any = "int32") -> Any:
    return get_op("size")(flat_values_of(input), out_type)


def rank(input: Any) -> Any:
    return to_host_tensor(np.asarray(len(input.shape), np.int32))


def unstack(value: Any, num: Any = None, axis: Any = 0) -> Any:
    if normalize_axis(axis, len(value.shape)) != 0:
        raise ValueError("tf.unstack of a ragged tensor: expected axis=0, the rows.")
    return list(value)


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None) -> Any:
    if normalize_axis(axis, len(value.shape)) != 0:
        raise ValueError("tf.split of a ragged tensor: expected axis=0, the rows.")
    numbers = get_op("split")(np.arange(value.num_rows()), num_or_size_splits, 0, num)
    return [gather_rows(value, np.asarray(each)) for each in numbers]


def broadcast_to(input: Any, shape: Any) -> Any:
    if not isinstance(shape, DynamicRaggedShape):
        raise TypeError("tf.broadcast_to of a ragged tensor: the shape has to be ragged too, tf.shape(other).")
    return broadcast_to_rows(input, shape.as_ragged())


def check_ranks(tensors: list[Any], name: str) -> list[Any]:
    """The tensors, if all have equally many dims."""
    ranks = sorted({len(each.shape) for each in tensors})
    if len(ranks) != 1:
        raise ValueError(DIFFERENT_RANKS.format(name=name, ranks=" and ".join(map(str, ranks)) or "no"))
    return tensors


def normalize_axis(axis: Any, rank: int) -> int:
    """The number of a dim, counted from the first."""
    number = static_int(axis)
    if not -rank <= number < rank:
        raise ValueError(f"axis is {number}, and there are {rank} dims.")
    return number % rank


def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """Every combination of the values of a row of each input, joined by "_X_".

    >>> cross([[["a", "b"]], [["x"]]])
    <tf.RaggedTensor [[b'a_X_x', b'b_X_x']]>
    """
    return RaggedTensor.from_sparse(get_op("sparse.cross")(inputs))


def cross_hashed(inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None) -> RaggedTensor:
    """:func:`cross`, hashed to integers below ``num_buckets``."""
    return RaggedTensor.from_sparse(get_op("sparse.cross_hashed")(inputs, num_buckets, hash_key))
