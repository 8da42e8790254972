"""Indexing of ragged tensors: `rt[1]`, `rt[1:3]`, `rt[:, :2]`, `rt[..., -1]`, `rt[:, tf.newaxis]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import RaggedBase, gather_rows, is_ragged, ragged_rank_of

INNER_INDEX = """Cannot index into an inner ragged dimension: rows of different lengths may not have an element {index}.
Use a slice, rt[:, {index}:{index} + 1], or pad the rows first: rt.to_tensor()[:, {index}]."""

TOO_MANY = "Too many indices: the ragged tensor has {rank} dims, and {count} were given."


def get_item(ragged: RaggedBase, key: Any) -> Any:
    """What `ragged[key]` is."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if is_ragged(key):
        raise ValueError("A ragged tensor is no index. Use tf.gather(rt, indices) or tf.ragged.boolean_mask(rt, mask).")
    keys = _expand_ellipsis([_plain(each) for each in keys], _rank(ragged))
    return _index(ragged, keys)


def _rank(value: Any) -> int:
    return ragged_rank_of(value) + len(_flat(value).shape)


def _flat(value: Any) -> Any:
    return _flat(value.values) if is_ragged(value) else value


def _plain(key: Any) -> Any:
    if isinstance(key, slice):
        return slice(*(None if each is None else int(each) for each in (key.start, key.stop, key.step)))
    if key is None or key is Ellipsis or isinstance(key, int):
        return key
    number = partition.known_splits(key, "An index")
    if number.ndim == 0 and number.dtype.kind in "iu":
        return int(number)
    raise TypeError(f"Indices of a ragged tensor are numbers, slices, None and `...`; got {key!r}. Use tf.gather.")


def _expand_ellipsis(keys: list[Any], rank: int) -> list[Any]:
    used = sum(key is not None and key is not Ellipsis for key in keys)
    if used > rank:
        raise ValueError(TOO_MANY.format(rank=rank, count=used))
    if Ellipsis not in keys:
        return keys
    at = keys.index(Ellipsis)
    if Ellipsis in keys[at + 1 :]:
        raise ValueError("Only one `...` is allowed in an index.")
    return [*keys[:at], *[slice(None)] * (rank - used), *keys[at + 1 :]]


def _index(value: Any, keys: list[Any]) -> Any:
    """Indexes from the first dim on."""
    if not keys:
        return value
    if not is_ragged(value):
        return value[tuple(keys)]
    key, *rest = keys
    if key is None:
        inner = _index(value, rest)
        return value.rebuild(inner, to_host_tensor(np.array([0, _first_dim(inner)])), _first_dim(inner))
    if isinstance(key, int):
        return _index(_row(value, key), rest)
    if key != slice(None):
        value = gather_rows(value, np.arange(value.num_rows())[key])
    return _index_inner(value, rest)


def _index_inner(ragged: RaggedBase, keys: list[Any]) -> Any:
    """Indexes from the second dim on, the same way in every row."""
    if not keys:
        return ragged
    key, *rest = keys
    if key is None:
        inner = _index_inner(ragged, rest)
        splits = np.arange(_first_dim(inner) + 1)
        return ragged.rebuild(inner, to_host_tensor(splits), 1)
    if isinstance(key, int):
        return _index(_column(ragged, key), [slice(None), *rest] if rest else [])
    if key != slice(None):
        ragged = _slice_rows(ragged, key)
    if not rest:
        return ragged
    values = ragged.values
    inner = _index_inner(values, rest) if is_ragged(values) else values[(slice(None), *rest)]
    return ragged.with_rows_of(inner)


def _first_dim(value: Any) -> int:
    return value.num_rows() if is_ragged(value) else int(value.shape[0])


def _row(ragged: RaggedBase, number: int) -> Any:
    count = ragged.num_rows()
    if not -count <= number < count:
        raise IndexError(f"Row {number} is not in a ragged tensor of {count} rows.")
    splits = partition.known_splits(ragged.row_splits, "rt[row]")
    first, last = int(splits[number % count]), int(splits[number % count + 1])
    values = ragged.values
    return gather_rows(values, np.arange(first, last)) if is_ragged(values) else values[first:last]


def _column(ragged: RaggedBase, number: int) -> Any:
    length = ragged.uniform_row_length
    if length is None:
        raise ValueError(INNER_INDEX.format(index=number))
    if not -length <= number < length:
        raise IndexError(f"Index {number} is not in rows of length {length}.")
    return gather_rows(ragged.values, np.arange(ragged.num_rows()) * length + number % length)


def _slice_rows(ragged: RaggedBase, key: slice) -> Any:
    splits = partition.known_splits(ragged.row_splits, "rt[:, start:stop]")
    lengths = np.diff(splits)
    step = 1 if key.step is None else key.step
    if step == 0:
        raise ValueError("The step of a slice cannot be 0.")
    low, high = (0, lengths) if step > 0 else (-1, lengths - 1)

    def clip(bound: int | None, default: Any) -> Any:
        if bound is None:
            return default
        return np.clip(np.where(bound < 0, bound + lengths, bound), low, high)

    start = clip(key.start, 0 if step > 0 else lengths - 1)
    stop = clip(key.stop, lengths if step > 0 else -1)
    counts = np.maximum(-(-(stop - start) // step), 0)
    inner = gather_rows(ragged.values, partition.join_ranges(splits[:-1] + start, counts, step))
    uniform = ragged.uniform_row_length
    if uniform is not None:
        uniform = len(range(*key.indices(uniform)))
    return ragged.rebuild(inner, partition.splits_from_lengths(counts.astype(splits.dtype)), uniform)
