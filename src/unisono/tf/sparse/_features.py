"""Features from sparse tensors: crosses, counts, and sums of chosen rows."""

from __future__ import annotations

import itertools
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._fingerprint import fingerprint
from unisono.tf._op import op
from unisono.tf._operands import as_bytes_array, static_int, static_value
from unisono.tf._tensors import as_array, as_bytes, to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import is_ragged
from unisono.tf.sparse._sparse_tensor import SparseTensor, known_indices

_DEFAULT_HASH_KEY: Final = 0xDECAFCAFFE
_MULTIPLIER: Final = 0xC6A4A7935BD1E995
_MASK: Final = (1 << 64) - 1


@op
def cross(inputs: Any, separator: Any = None) -> Any:
    """Every combination of the values of a row of each input, joined by "_X_".

    >>> cross([[["a"], ["b"]], [["x"], ["y"]]]).values.tolist()
    [b'a_X_x', b'b_X_y']
    """
    joiner = b"_X_" if separator is None else as_bytes(np.asarray(separator).item())
    rows = [[joiner.join(map(_as_text, each)) for each in row] for row in _combinations(inputs)]
    return _rows_to_sparse(rows, object)


@op
def cross_hashed(inputs: Any, num_buckets: Any = 0, hash_key: Any = None) -> Any:
    """:func:`cross`, hashed to integers below ``num_buckets``; the same ones as TensorFlow's."""
    return _rows_to_sparse(hashed_rows(inputs, num_buckets, hash_key), np.int64)


def hashed_rows(inputs: Any, num_buckets: Any, hash_key: Any) -> list[list[int]]:
    """The hashed combinations of each row."""
    buckets = static_int(num_buckets) or (1 << 63) - 1
    key = _DEFAULT_HASH_KEY if hash_key is None else static_int(hash_key)
    return [[_hash_all(each, key) % buckets for each in row] for row in _combinations(inputs)]


def _combinations(inputs: Any) -> list[list[tuple[Any, ...]]]:
    columns = [_rows_of(each) for each in inputs]
    if len({len(column) for column in columns}) > 1:
        raise ValueError("The inputs of a cross have different numbers of rows.")
    return [list(itertools.product(*row)) for row in zip(*columns, strict=True)]


def _rows_of(value: Any) -> list[list[Any]]:
    if is_ragged(value):
        return list(value.to_list())
    if not isinstance(value, SparseTensor):
        plain = np.asarray(value)
        plain = as_bytes_array(plain) if plain.dtype.kind in "OSUT" else plain
        if plain.ndim != 2:
            raise ValueError(f"An input of a cross has the shape {plain.shape}. Expected rows and columns.")
        return list(plain.tolist())
    rows: list[list[Any]] = [[] for _ in range(value.dense_sizes[0])]
    indices = known_indices(value, "tf.sparse.cross")
    for (row, *_), each in zip(indices, np.asarray(value.values).tolist(), strict=True):
        rows[row].append(as_bytes(each) if isinstance(each, str) else each)
    return rows


def _as_text(value: Any) -> bytes:
    return as_bytes(value) if isinstance(value, str | bytes) else str(value).encode()


def _hash_all(values: tuple[Any, ...], key: int) -> int:
    for value in values:
        key = _join_fingerprints(
            key, fingerprint(as_bytes(value)) if isinstance(value, str | bytes) else int(value) & _MASK
        )
    return key


def _join_fingerprints(first: int, second: int) -> int:
    def mix(value: int) -> int:
        return value ^ (value >> 47)

    result = first ^ _MULTIPLIER
    result ^= mix(second * _MULTIPLIER & _MASK) * _MULTIPLIER & _MASK
    result = result * _MULTIPLIER & _MASK
    return mix(mix(result) * _MULTIPLIER & _MASK)


def _rows_to_sparse(rows: list[list[Any]], dtype: Any) -> SparseTensor:
    lengths = np.array([len(row) for row in rows], np.int64)
    values = np.empty(int(lengths.sum()), dtype)
    values[:] = [each for row in rows for each in row]
    splits = partition.splits_from_lengths(lengths)
    positions = partition.positions_in_rows(splits, len(values))
    indices = np.stack([np.asarray(partition.value_rowids(splits, len(values))), positions], axis=1)
    return SparseTensor(indices, to_host_tensor(values), (len(rows), int(lengths.max(initial=0))))


@op
def bincount(
    values: Any,
    weights: Any = None,
    axis: Any = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
) -> Any:
    """How often each number occurs, of all values (axis 0) or in each row (axis -1), as a sparse tensor."""
    given, rows = _values_and_rows(values)
    counts = np.ones(len(given), np.int64)
    dtype: Any = np.int64
    if weights is not None:
        counts = np.asarray(
            weights.values if isinstance(weights, SparseTensor) else getattr(weights, "flat_values", weights)
        ).reshape(-1)
        dtype = counts.dtype
    if static_int(axis) == 0:
        rows = np.zeros_like(rows)
    number = int(getattr(values, "shape", np.shape(values))[0]) if static_int(axis) != 0 else 1
    limit = None if maxlength is None else static_int(maxlength)
    kept = np.ones(len(given), bool) if limit is None else given < limit
    pairs, ids = np.unique(np.stack([rows[kept], given[kept]], axis=1), axis=0, return_inverse=True)
    totals = np.zeros(len(pairs), dtype)
    np.add.at(totals, ids.reshape(-1), counts[kept])
    totals = np.ones_like(totals) if binary_output else totals
    width = max(int(given.max(initial=-1)) + 1, 0 if minlength is None else static_int(minlength))
    width = width if limit is None else min(width, limit)
    if static_int(axis) == 0:
        return SparseTensor(pairs[:, 1:], to_host_tensor(totals), (width,))
    return SparseTensor(pairs, to_host_tensor(totals), (number, width))


def _values_and_rows(values: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if isinstance(values, SparseTensor):
        rows = known_indices(values, "tf.sparse.bincount")[:, 0]
        return np.asarray(values.values).astype(np.int64), rows
    if is_ragged(values):
        return np.asarray(values.values).astype(np.int64), np.asarray(values.rowids())
    plain = static_value(values, "tf.sparse.bincount: the values").astype(np.int64)
    if plain.ndim == 1:
        return plain, np.zeros(len(plain), np.int64)
    return plain.reshape(-1), np.repeat(np.arange(len(plain)), plain.shape[1])


@op
def segment_sum(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Any:
    """The sum of the chosen rows of each segment."""
    return _segments(data, indices, segment_ids, num_segments)[0]


@op
def segment_mean(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Any:
    """The mean of the chosen rows of each segment; 0 for an empty one."""
    total, counts = _segments(data, indices, segment_ids, num_segments)
    return total / jnp.maximum(counts, 1).astype(total.dtype)


@op
def segment_sqrt_n(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Any:
    """The sum of the chosen rows of each segment divided by the square root of their number."""
    total, counts = _segments(data, indices, segment_ids, num_segments)
    return total / jnp.sqrt(jnp.maximum(counts, 1).astype(total.dtype))


def _segments(data: Any, indices: Any, segment_ids: Any, num_segments: Any) -> tuple[Any, Any]:
    rows = as_array(data)[as_array(indices)]
    if num_segments is None:
        known = static_value(segment_ids, "The segment ids of tf.sparse.segment_* without num_segments")
        number = int(known[-1]) + 1 if len(known) else 0
    else:
        number = static_int(num_segments)
    ids = as_array(segment_ids)
    counts = jax.ops.segment_sum(jnp.ones(ids.shape, jnp.int32), ids, number).reshape(-1, *[1] * (rows.ndim - 1))
    return jax.ops.segment_sum(rows, ids, number), counts
