"""`tf.ragged.constant`, `tf.ragged.range`, `tf.ragged.stack` and the conversions between row splits and segment ids."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from unisono.tf._dtypes import as_dtype
from unisono.tf._op import op, op_without_folding
from unisono.tf._operands import static_int, static_value
from unisono.tf._tensors import as_bytes, convert_to_tensor, is_text, to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged import _structure_ops as structure
from unisono.tf.ragged._base import gather_rows, is_ragged
from unisono.tf.ragged._construction import splits_from_rowids
from unisono.tf.ragged._ragged_tensor import RaggedTensor

DIFFERENT_DEPTHS = """tf.ragged.constant: the lists are nested to different depths, or text and numbers are mixed:
{value!r}. All values need the same depth and the same kind."""


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """A ragged tensor from nested lists.

    >>> constant([[1, 2], [], [3]])
    <tf.RaggedTensor [[1, 2], [], [3]]>

    Args:
        pylist: nested lists, tuples and arrays.
        dtype: the dtype of the values; inferred if None.
        ragged_rank: how many dims are ragged; all but the innermost uniform ones if None.
        inner_shape: the shape of the values.
        name: accepted, without effect.
        row_splits_dtype: the dtype of the row splits, "int64" or "int32".
    """
    if not isinstance(pylist, list | tuple | np.ndarray):
        if ragged_rank or inner_shape:
            raise ValueError(f"tf.ragged.constant: {pylist!r} is a scalar, which has no rows.")
        return convert_to_tensor(pylist, dtype)
    depth = _depth(pylist)
    inner = None if inner_shape is None else _inner_sizes(inner_shape)
    if ragged_rank is None:
        ragged_rank = max(1, depth - 1) if inner is None else depth - 1 - len(inner)
    if inner is None:
        inner = _infer_inner_shape(pylist, ragged_rank)
    if depth and not 0 <= ragged_rank < max(depth, ragged_rank + 1):
        raise ValueError(f"tf.ragged.constant: ragged_rank is {ragged_rank}, and lists are nested {depth} deep.")
    splits, rows = [], list(pylist)
    split_dtype = as_dtype(row_splits_dtype).dtype
    for _ in builtins.range(ragged_rank):
        if any(not isinstance(row, list | tuple | np.ndarray) for row in rows):
            raise ValueError(DIFFERENT_DEPTHS.format(value=pylist))
        splits.append(partition.splits_from_lengths(np.array([len(row) for row in rows], split_dtype)))
        rows = [each for row in rows for each in row]
    flat = _flat_values(rows, inner, dtype, pylist)
    if not splits:
        return flat
    return RaggedTensor.from_nested_row_splits(flat, splits)


def _flat_values(rows: list[Any], inner: tuple[int, ...], dtype: Any, whole: Any) -> Any:
    try:
        if is_text(rows) or (dtype is not None and as_dtype(dtype).name == "string"):
            texts = np.empty(len(rows), object) if not inner else np.array(rows, object)
            if not inner:
                if not all(isinstance(row, str | bytes) for row in rows):
                    raise ValueError("text and numbers are mixed")
                texts[:] = [as_bytes(row) for row in rows]
            return to_host_tensor(texts)
        if not rows:
            return convert_to_tensor(np.zeros((0, *inner), as_dtype(dtype or "float32").dtype), dtype)
        if dtype is None and any(isinstance(row, bool) for row in rows) and not all(isinstance(r, bool) for r in rows):
            raise ValueError("bools and numbers are mixed")
        flat = _on_host(rows, dtype) if dtype is None or as_dtype(dtype).is_integer else convert_to_tensor(rows, dtype)
    except (ValueError, TypeError) as error:
        raise ValueError(DIFFERENT_DEPTHS.format(value=whole)) from error
    if tuple(flat.shape[1:]) != inner:
        if flat.size != len(rows) * int(np.prod(inner)):
            raise ValueError(f"tf.ragged.constant: the values have the shape {flat.shape[1:]}, not {inner}.")
        flat = flat.reshape(len(rows), *inner)
    return flat


def _on_host(rows: list[Any], dtype: Any) -> Any:
    """Integers and bools stay on the host, where rows are chosen and moved without compiling anything: they have no
    gradients. Floating-point numbers do."""
    plain = np.array([np.asarray(row) for row in rows])
    if plain.dtype.kind not in "iub":
        return convert_to_tensor(rows, dtype)
    if dtype is not None:
        return to_host_tensor(plain.astype(as_dtype(dtype).dtype))
    fits = plain.dtype == np.int64 and (plain.min() >= -(2**31) and plain.max() < 2**31)
    given = any(isinstance(row, np.ndarray | np.generic) for row in rows)
    return to_host_tensor(plain.astype(np.int32) if fits and not given else plain)


def _depth(value: Any) -> int:
    """How deep lists are nested; 0 for a value, and an empty list is one level deep."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.ndim
    if not isinstance(value, list | tuple | np.ndarray):
        return 0
    return 1 + max((_depth(each) for each in value), default=0)


def _inner_sizes(inner_shape: Any) -> tuple[int, ...]:
    return (int(inner_shape),) if isinstance(inner_shape, int) else tuple(int(size) for size in inner_shape)


def _infer_inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    rows = [pylist]
    for _ in builtins.range(ragged_rank + 1):
        rows = [each for row in rows for each in (row if isinstance(row, list | tuple | np.ndarray) else [row])]
    if not rows or not isinstance(rows[0], list | tuple | np.ndarray):
        return ()
    return tuple(np.shape(rows[0]))


@op
def stack(values: Any, axis: Any = 0) -> Any:
    """Tensors of one rank, along a new dim; their sizes may differ.

    >>> stack([[1, 2], [3]])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    if is_ragged(values) or not isinstance(values, list | tuple):
        values = [values]
    tensors = [structure.as_tensor(each) for each in values]
    if tensors and len(tensors[0].shape) == 0:
        return structure.stack(tensors, axis)
    position = structure.normalize_axis(axis, len(tensors[0].shape) + 1)
    expanded = [_as_ragged(structure.expand_dim(each, position)) for each in tensors]
    return structure.concat_tensors(structure.check_ranks(expanded, "tf.ragged.stack"), position)


def _as_ragged(tensor: Any) -> Any:
    """Every dim ragged, so that tensors of different shapes can be stacked."""
    return tensor if is_ragged(tensor) else RaggedTensor.from_tensor(tensor, ragged_rank=tensor.ndim - 1)


@op_without_folding
def range(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, row_splits_dtype: Any = "int64") -> Any:
    """A row of numbers for each start, limit and delta.

    >>> range([3, 0, 2])
    <tf.RaggedTensor [[0, 1, 2], [], [0, 1]]>
    """
    if limits is None:
        starts, limits = 0, starts
    given = [static_value(each, "tf.ragged.range") for each in (starts, limits, deltas)]
    if dtype is None:
        has_dtype = [
            array for array, each in zip(given, (starts, limits, deltas), strict=True) if hasattr(each, "dtype")
        ]
        plain = np.result_type(*(has_dtype or given))
        dtype = (
            np.float32
            if plain == np.float64 and not has_dtype
            else np.int32
            if plain == np.int64 and not has_dtype
            else plain
        )
    first, last, step = np.broadcast_arrays(*(np.atleast_1d(each) for each in given))
    if (step == 0).any():
        raise ValueError("tf.ragged.range: a delta is 0.")
    counts = np.maximum(np.ceil((last - first) / step), 0).astype(as_dtype(row_splits_dtype).dtype)
    steps = partition.join_ranges(np.zeros_like(counts), counts)
    wanted = as_dtype(dtype).dtype
    values = (np.repeat(first, counts) + steps * np.repeat(step, counts)).astype(wanted)
    return RaggedTensor(to_host_tensor(values), partition.splits_from_lengths(counts))


@op
def row_splits_to_segment_ids(splits: Any, out_type: Any = None) -> Any:
    """The row of each value.

    >>> row_splits_to_segment_ids([0, 3, 3, 5]).tolist()
    [0, 0, 0, 2, 2]
    """
    known = partition.as_splits(splits)
    number = int(partition.known_splits(known, "tf.ragged.row_splits_to_segment_ids")[-1])
    ids = partition.value_rowids(known, number)
    return ids if out_type is None else to_host_tensor(np.asarray(ids).astype(as_dtype(out_type).dtype))


@op
def segment_ids_to_row_splits(segment_ids: Any, num_segments: Any = None, out_type: Any = None) -> Any:
    """Row splits from the row of each value.

    >>> segment_ids_to_row_splits([0, 0, 0, 2, 2]).tolist()
    [0, 3, 3, 5]
    """
    ids = segment_ids if partition.is_traced(segment_ids) else np.asarray(segment_ids)
    splits = splits_from_rowids(ids, num_segments, int(ids.shape[0]))
    return splits if out_type is None else splits.astype(as_dtype(out_type).dtype)


@op
def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: Any) -> Any:
    """A row for each partition, with the values that belong to it.

    >>> stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 2)
    <tf.RaggedTensor [[b'b'], [b'a', b'c']]>
    """
    tensor = structure.as_tensor(data)
    if is_ragged(partitions):
        values = tensor.values if is_ragged(tensor) else tensor
        return stack_dynamic_partitions(values, partitions.values, num_partitions)
    numbers = static_value(partitions, "tf.ragged.stack_dynamic_partitions: the partitions")
    if numbers.ndim > 1:
        flat = tensor.merge_dims(0, numbers.ndim - 1) if is_ragged(tensor) else None
        tensor = tensor.reshape(-1, *tensor.shape[numbers.ndim :]) if flat is None else flat
        numbers = numbers.reshape(-1)
    count = static_int(num_partitions)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= count):
        raise ValueError(f"tf.ragged.stack_dynamic_partitions: partitions are not all below {count}.")
    order = np.argsort(numbers, kind="stable")
    rows = np.bincount(numbers, minlength=count).astype(np.int64)
    return RaggedTensor(gather_rows(tensor, order), partition.splits_from_lengths(rows))
