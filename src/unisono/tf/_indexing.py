"""Indexing and sorting: `tf.gather`, `tf.scatter_nd`, `tf.where`, `tf.slice`, `tf.sort`, `tf.unique`."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

from unisono.tf._op import op, op_without_folding
from unisono.tf._operands import (
    array_module,
    as_text_or_array,
    convert_operands,
    convert_together,
    hide_negative,
    is_known,
    jax_dtype_or,
    static_int,
    static_shape,
    static_value,
    wrap_host_result,
)
from unisono.tf._selected_rows import SelectedRows, refuse_dynamic_size
from unisono.tf._tensors import as_array, is_text, to_host_tensor


class Unique(NamedTuple):
    """The distinct values, and for each element the index of its value."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """The distinct values, for each element the index of its value, and the count of each value."""

    y: Any
    idx: Any
    count: Any


@op
def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: Any = 0) -> Any:
    """The slices at these indices along ``axis``; by default the first dim after the batch dims.

    Zeros for an index out of range; negative ones do not count from the end.

    >>> gather([10, 20, 30], [2, 0]).tolist()
    [30, 10]
    """
    array = as_text_or_array(params)
    if isinstance(array, np.ndarray):
        rows = static_value(indices, "tf.gather of text: the indices")
        axis = 0 if axis is None else static_int(axis)
        _check_text_indices("tf.gather", rows, array.shape[axis])
        return wrap_host_result(np.take(array, rows, axis))
    positions = hide_negative(indices)
    batch = static_int(batch_dims)
    batch = batch + positions.ndim if batch < 0 else batch
    axis = batch if axis is None else static_int(axis) % array.ndim

    def take(part: Any, where: Any) -> Any:
        return jnp.take(part, where, axis - batch, mode="fill", fill_value=0)

    for _ in range(batch):
        take = jax.vmap(take)
    return take(array, positions)


@op
def gather_nd(params: Any, indices: Any, batch_dims: Any = 0) -> Any:
    """The slices at these indices; the last dim of ``indices`` is one index. Zeros for an index out of range."""
    array = as_text_or_array(params)
    if isinstance(array, np.ndarray):
        rows = static_value(indices, "tf.gather_nd of text: the indices")
        _check_text_indices("tf.gather_nd", rows, array.shape[: rows.shape[-1]])
        return wrap_host_result(np.asarray(array[tuple(np.moveaxis(rows, -1, 0))], object))
    positions = hide_negative(indices)

    def take(part: Any, where: Any) -> Any:
        return part.at[tuple(jnp.moveaxis(where, -1, 0))].get(mode="fill", fill_value=0)

    for _ in range(static_int(batch_dims)):
        take = jax.vmap(take)
    return take(array, positions)


@op_without_folding
def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """Zeros with ``updates`` added at these indices."""
    updates = as_array(updates)
    return _index_update(jnp.zeros(static_shape(shape), updates.dtype), indices).add(updates)


@op
def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any) -> Any:
    """The tensor with ``updates`` at these indices."""
    array = as_array(tensor)
    return _index_update(array, indices).set(as_array(updates, array.dtype))


@op
def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any) -> Any:
    """The tensor with ``updates`` added at these indices."""
    array = as_array(tensor)
    return _index_update(array, indices).add(as_array(updates, array.dtype))


@op
def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any) -> Any:
    """The tensor with ``updates`` subtracted at these indices."""
    array = as_array(tensor)
    return _index_update(array, indices).add(-as_array(updates, array.dtype))


@op
def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any) -> Any:
    """The tensor with the maximum of itself and ``updates`` at these indices."""
    array = as_array(tensor)
    return _index_update(array, indices).max(as_array(updates, array.dtype))


@op
def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any) -> Any:
    """The tensor with the minimum of itself and ``updates`` at these indices."""
    array = as_array(tensor)
    return _index_update(array, indices).min(as_array(updates, array.dtype))


@op
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """``x`` where the condition is true and ``y`` elsewhere; without both, the indices where it is true.

    >>> where([True, False], [1, 2], 0).tolist()
    [1, 0]
    """
    chosen = as_array(condition)
    if x is None and y is None:
        if isinstance(chosen, jax.core.Tracer):
            indices = jnp.stack(jnp.meshgrid(*map(jnp.arange, chosen.shape), indexing="ij"), -1)
            return SelectedRows.select(
                indices.astype(jax_dtype_or(None, "int64")), _as_mask(chosen), "tf.where(condition)"
            )
        return jnp.asarray(np.argwhere(np.asarray(chosen)), jax_dtype_or(None, "int64"))
    if is_text(x) or is_text(y):
        _, (left, right) = convert_together([x, y])
        return to_host_tensor(np.where(static_value(condition, "tf.where with text: the condition"), left, right))
    return jnp.where(chosen.astype(bool), *convert_operands(x, y))


@op
def boolean_mask(tensor: Any, mask: Any, axis: Any = None) -> Any:
    """The slices where the mask is true."""
    if isinstance(mask, jax.core.Tracer):
        return _select_rows(as_array(tensor), mask, axis)
    array, chosen = as_text_or_array(tensor), static_value(mask, "tf.boolean_mask: the mask").astype(bool)
    before = (builtins.slice(None),) * (0 if axis is None else static_int(axis))
    return wrap_host_result(array[(*before, *np.nonzero(chosen))])


def _select_rows(array: Any, mask: Any, axis: Any) -> Any:
    if axis is not None and static_int(axis) != 0:
        refuse_dynamic_size("tf.boolean_mask")
    if mask.ndim == 0 or tuple(mask.shape) != tuple(array.shape[: mask.ndim]):
        raise ValueError(f"tf.boolean_mask: the mask has the shape {mask.shape}, and the tensor {array.shape}.")
    return SelectedRows.select(array, _as_mask(mask), "tf.boolean_mask")


def _as_mask(values: Any) -> Any:
    return values if values.dtype == bool else values != 0


@op
def slice(input_: Any, begin: Any, size: Any) -> Any:
    """``size`` elements along each dim, starting at ``begin``; -1 for all that follow."""
    array, lengths = as_text_or_array(input_), static_shape(size)
    if -1 not in lengths and not isinstance(array, np.ndarray) and not is_known(begin):
        firsts = as_array(begin)
        return jax.lax.dynamic_slice(array, [firsts[dim] for dim in range(array.ndim)], lengths)
    starts = static_shape(begin, "tf.slice of text, or with size -1: begin")
    lengths = tuple(
        full - first if length == -1 else length
        for length, full, first in zip(lengths, array.shape, starts, strict=True)
    )
    _check_slice(starts, lengths, array.shape)
    cut = zip(starts, lengths, strict=True)
    return wrap_host_result(array[tuple(builtins.slice(first, first + length) for first, length in cut)])


@op
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
) -> Any:
    """`input_[begin:end:strides]`; bit ``i`` of a mask applies to dim ``i``."""
    array = as_text_or_array(input_)
    first, last = static_shape(begin), static_shape(end)
    step = static_shape(strides) if strides is not None else (1,) * len(first)
    index: list[Any] = []
    for dim in range(len(first)):
        bit = 1 << dim
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(first[dim])
        else:
            ends = None if begin_mask & bit else first[dim], None if end_mask & bit else last[dim]
            index.append(builtins.slice(*ends, step[dim]))
    return wrap_host_result(array[tuple(index)])


@op
def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING") -> Any:
    """Sorts along ``axis``."""
    ordered = jnp.sort(as_array(values), static_int(axis))
    return jnp.flip(ordered, static_int(axis)) if _is_descending(direction) else ordered


@op
def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False) -> Any:
    """The indices that sort along ``axis``. Equal elements keep their order."""
    descending = _is_descending(direction)
    return jnp.argsort(as_array(values), static_int(axis), stable=True, descending=descending).astype(jnp.int32)


@op
def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = "int32") -> Any:
    """The indices at which to insert values, row by row, so that the rows stay sorted."""
    ordered, wanted = convert_operands(sorted_sequence, values)

    def search(row: Any, value: Any) -> Any:
        return jnp.searchsorted(row, value, side=side)

    for _ in range(ordered.ndim - 1):
        search = jax.vmap(search)
    return search(ordered, wanted).astype(jax_dtype_or(out_type, "int32"))


@op
def unique(x: Any, out_idx: Any = "int32") -> Any:
    """The distinct values in order of first occurrence, and for each element the index of its value."""
    values, positions, _ = _find_distinct(x, "tf.unique")
    return Unique(values, jnp.asarray(positions, jax_dtype_or(out_idx, "int32")))


@op
def unique_with_counts(x: Any, out_idx: Any = "int32") -> Any:
    """:func:`unique`, and the count of each value."""
    values, positions, counts = _find_distinct(x, "tf.unique_with_counts")
    dtype = jax_dtype_or(out_idx, "int32")
    return UniqueWithCounts(values, jnp.asarray(positions, dtype), jnp.asarray(counts, dtype))


@op
def unravel_index(indices: Any, dims: Any) -> Any:
    """Converts indices of a flat tensor to indices in this shape, a row for each dim."""
    return jnp.stack(jnp.unravel_index(as_array(indices), static_shape(dims)))


@op
def dynamic_partition(data: Any, partitions: Any, num_partitions: Any) -> Any:
    """The rows of each partition, as a list."""
    if isinstance(partitions, jax.core.Tracer):
        refuse_dynamic_size("tf.dynamic_partition")
    array, numbers = as_array(data), static_value(partitions, "tf.dynamic_partition: the partitions")
    return [array[np.nonzero(numbers == number)] for number in range(static_int(num_partitions))]


@op
def dynamic_stitch(indices: Any, data: Any) -> Any:
    """Merges rows at these indices; later ones win."""
    where = [static_value(each, "tf.dynamic_stitch: the indices").reshape(-1) for each in indices]
    inner = [as_array(rows) for rows in data]
    rows = [
        part.reshape(len(at), *part.shape[np.ndim(index) :])
        for part, at, index in zip(inner, where, indices, strict=True)
    ]
    stitched = jnp.zeros((max(int(at.max(initial=-1)) for at in where) + 1, *rows[0].shape[1:]), rows[0].dtype)
    for at, part in zip(where, rows, strict=True):
        stitched = stitched.at[at].set(part)
    return stitched


def _index_update(array: Any, indices: Any) -> Any:
    """What updates the array at these indices; those out of range are left out."""
    return array.at[tuple(jnp.moveaxis(hide_negative(indices), -1, 0))]


def _check_text_indices(call: str, indices: Any, limit: Any) -> None:
    if np.any(indices < 0) or np.any(indices >= np.asarray(limit)):
        raise ValueError(f"{call} of text: the indices are {indices.tolist()}, of {limit} values.")


def _check_slice(starts: Any, lengths: Any, shape: Any) -> None:
    for dim, (first, length, full) in enumerate(zip(starts, lengths, shape, strict=True)):
        # Comparisons of symbolic dims may be undecidable.
        is_negative = not export.is_symbolic_dim(first) and first < 0
        is_symbolic = any(map(export.is_symbolic_dim, (first, length, full)))
        if is_negative or (not is_symbolic and (length < 0 or first + length > full)):
            raise ValueError(
                f"tf.slice: dim {dim} has {full} elements, and the slice begins at {first} and has {length}."
            )


def _is_descending(direction: str) -> bool:
    if direction.upper() not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction is {direction!r}. Expected 'ASCENDING' or 'DESCENDING'.")
    return direction.upper() == "DESCENDING"


def _find_distinct(x: Any, name: str) -> Any:
    array = as_text_or_array(x)
    if isinstance(array, jax.core.Tracer):
        refuse_dynamic_size(name)
    values, first, positions, counts = np.unique(
        np.asarray(array), return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    distinct = values[order]
    return (
        to_host_tensor(distinct) if array_module(array) is np else jnp.asarray(distinct),
        rank[positions],
        counts[order],
    )
