"""Row splits from the other ways to describe rows: lengths, row numbers, starts, limits, padding."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf._operands import static_int
from unisono.tf._tensors import HostTensor, as_bytes, convert_to_tensor, is_text, to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import is_ragged, len_of

WRONG_SPLITS = """The row splits {splits} do not partition {count} values: they begin with 0, do not decrease, and end
with the number of values."""
WRONG_ROWIDS = "value_rowids are the numbers of rows in increasing order, one for each of {count} values; got {rowids}."


def as_values(values: Any) -> Any:
    """What a ragged tensor holds: a ragged tensor, or a tensor with at least one dim."""
    if is_ragged(values):
        return values
    array = values if isinstance(values, HostTensor) else None
    if array is None and isinstance(values, np.ndarray) and values.dtype.kind not in "SU":
        array = to_host_tensor(values)
    array = convert_to_tensor(values) if array is None else array
    if array.ndim == 0:
        raise ValueError(f"The values of a ragged tensor have at least one dim; got the scalar {values!r}.")
    return array


def check_splits(splits: Any, values: Any) -> None:
    """Raises if row splits do not fit the values. Inside compiled functions nothing is known of them."""
    if partition.is_traced(splits):
        return
    plain, count = np.asarray(splits), len_of(values)
    if plain.ndim != 1 or not plain.size or plain[0] != 0 or plain[-1] != count or (np.diff(plain) < 0).any():
        raise ValueError(WRONG_SPLITS.format(splits=plain.tolist(), count=count))


def splits_from_rowids(rowids: Any, nrows: Any, count: int) -> Any:
    """Row splits from the number of the row of each value."""
    if partition.is_traced(rowids):
        if nrows is None:
            raise ValueError("from_value_rowids inside a compiled function needs nrows=..., the number of rows.")
        lengths = jnp.bincount(rowids, length=static_int(nrows)).astype(rowids.dtype)
        return partition.splits_from_lengths(lengths)
    plain = np.asarray(rowids)
    plain = plain.astype(np.int64) if plain.dtype not in (np.int32, np.int64) else plain
    least = int(plain[-1]) + 1 if plain.size else 0
    rows = least if nrows is None else static_int(nrows)
    if len(plain) != count or rows < least or (plain.size and (plain[0] < 0 or (np.diff(plain) < 0).any())):
        raise ValueError(WRONG_ROWIDS.format(count=count, rowids=plain.tolist()))
    return partition.splits_from_lengths(np.bincount(plain, minlength=rows).astype(plain.dtype))


def uniform_splits(length: int, nrows: Any, count: int) -> Any:
    """Row splits of rows of one length."""
    if length < 0 or (length and count % length):
        raise ValueError(f"{count} values cannot be partitioned into rows of length {length}.")
    rows = count // length if length else (0 if nrows is None else static_int(nrows))
    if nrows is not None and static_int(nrows) != rows:
        raise ValueError(f"{count} values are {rows} rows of length {length}, but nrows is {static_int(nrows)}.")
    return to_host_tensor(np.arange(rows + 1, dtype=np.int64) * length)


def unpadded_lengths(tensor: Any, padding: Any) -> np.ndarray[Any, Any]:
    """The lengths of rows without the padding at their ends."""
    plain = partition.known_splits(tensor, "from_tensor(padding=...)")
    fill = as_bytes(np.asarray(padding).item()) if is_text(padding) else np.asarray(padding)
    if plain.dtype.kind in "OSUT":
        same = np.frompyfunc(lambda each: as_bytes(each) == fill, 1, 1)(plain).astype(bool)
    else:
        same = plain == fill
    kept = ~same.reshape(*plain.shape[:2], -1).all(-1) if plain.ndim > 2 else ~same
    last = np.where(kept, np.arange(1, kept.shape[1] + 1), 0)
    return np.asarray(last.max(axis=1, initial=0), np.int64)


def cut_rows(tensor: Any, lengths: Any) -> tuple[Any, Any]:
    """The first values of each row of a dense tensor, and their row splits."""
    shape = tensor.shape
    rows, width = int(shape[0]), int(shape[1])
    counts = np.clip(partition.known_splits(lengths, "from_tensor(lengths=...)").astype(np.int64), 0, width)
    if counts.shape != (rows,):
        raise ValueError(f"from_tensor: lengths has the shape {counts.shape}. Expected one length for {rows} rows.")
    flat = tensor.reshape(rows * width, *shape[2:])
    chosen = partition.join_ranges(np.arange(rows) * width, counts)
    return partition.take_rows(flat, chosen), partition.splits_from_lengths(counts)
