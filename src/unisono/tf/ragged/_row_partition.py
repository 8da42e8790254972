"""How flat values are partitioned into rows: by row splits, and by what can be computed from them.

Row splits are NumPy arrays where they are known, and JAX tracers inside compiled functions, where only the number of
rows and the number of values are known.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono._src import keras_hooks
from unisono.tf._tensors import to_host_tensor

TRACED_ROWS = """{what} needs the lengths of the rows of a ragged tensor, which are not known inside a compiled
function when it is traced. Call it outside, in dataset.map for example, or pad the rows there: to_tensor(shape=...)."""


def is_traced(*values: Any) -> bool:
    """Whether one of the values is known only when a compiled function runs."""
    return any(isinstance(value, jax.core.Tracer) for value in values)


def known_splits(splits: Any, what: str) -> np.ndarray[Any, Any]:
    """Row splits as a NumPy array. A compiled function that computes them runs on the host, or they are an error."""
    if is_traced(splits):
        keras_hooks.run_on_host_if_possible(f"{what} needs the lengths of the rows of a ragged tensor")
        raise ValueError(TRACED_ROWS.format(what=what))
    return np.asarray(splits)


def as_splits(splits: Any) -> Any:
    """Row splits that a user passed: on the host, unless they are traced."""
    if is_traced(splits):
        return splits
    array = np.asarray(splits)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"Row splits are integers, but these are {array.dtype}.")
    return to_host_tensor(array if array.dtype in (np.int32, np.int64) else array.astype(np.int64))


def splits_from_lengths(lengths: Any) -> Any:
    """Row splits of rows of these lengths."""
    if is_traced(lengths):
        return jnp.concatenate([jnp.zeros(1, lengths.dtype), jnp.cumsum(lengths)])
    array = np.asarray(lengths)
    dtype = array.dtype if array.dtype in (np.int32, np.int64) else np.dtype(np.int64)
    return to_host_tensor(np.concatenate([[0], np.cumsum(array)]).astype(dtype))


def row_lengths(splits: Any) -> Any:
    """The number of values in each row."""
    if is_traced(splits):
        return splits[1:] - splits[:-1]
    return to_host_tensor(np.diff(np.asarray(splits)))


def value_rowids(splits: Any, num_values: int) -> Any:
    """The row of each value."""
    if is_traced(splits):
        # Values behind the last row belong to none; they are clipped away by functions that add them up by row.
        return jnp.searchsorted(splits, jnp.arange(num_values, dtype=splits.dtype), side="right") - 1
    plain = np.asarray(splits)
    return to_host_tensor(np.repeat(np.arange(len(plain) - 1, dtype=plain.dtype), np.diff(plain)))


def positions_in_rows(splits: Any, num_values: int) -> Any:
    """The position of each value in its row."""
    rows = value_rowids(splits, num_values)
    if is_traced(splits):
        return jnp.arange(num_values, dtype=splits.dtype) - splits[rows]
    plain = np.asarray(splits)
    return np.arange(num_values, dtype=plain.dtype) - plain[np.asarray(rows)]


def join_ranges(starts: Any, counts: Any, step: int = 1) -> np.ndarray[Any, Any]:
    """The numbers start, start + step, … of each row, one row after the other."""
    starts, counts = np.asarray(starts, np.int64), np.asarray(counts, np.int64)
    before = np.repeat(np.cumsum(counts) - counts, counts)
    joined: np.ndarray[Any, Any] = np.repeat(starts, counts)
    joined += step * (np.arange(len(joined), dtype=np.int64) - before)
    return joined


def take_rows(array: Any, rows: Any) -> Any:
    """The rows of a dense array with these numbers; text and other arrays on the host stay there."""
    if isinstance(array, np.ndarray) and not is_traced(rows):
        return to_host_tensor(np.asarray(array)[np.asarray(rows)])
    return jnp.asarray(array)[rows if is_traced(rows) else np.asarray(rows)]


def num_rows(array: Any) -> int:
    """The first dim of a dense array."""
    return int(array.shape[0])
