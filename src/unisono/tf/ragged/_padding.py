"""Ragged tensors as padded dense ones: `to_tensor`, and the masks and lengths that go with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono._src import keras_hooks
from unisono.tf._operands import as_bytes_array
from unisono.tf._tensors import as_array, is_text, to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import RaggedBase, is_ragged, ragged_rank_of

UNKNOWN_LENGTH = """to_tensor() inside a compiled function: the length of the longest row is not known when it is
traced. Give one that is long enough: to_tensor(shape=[None, 64])."""


def pad_rows(ragged: RaggedBase, default: Any, shape: Sequence[int | None] | None) -> Any:
    """A dense tensor of all rows, filled up with ``default``. ``shape`` pads and cuts further; None as it is."""
    sizes: list[int | None] = [None] * (ragged_rank_of(ragged) + 1) if shape is None else list(shape)
    dense = _pad(ragged, default, sizes)
    return _fit_first_dim(dense, sizes[0], default) if sizes else dense


def _pad(ragged: RaggedBase, default: Any, sizes: list[int | None]) -> Any:
    values = ragged.values
    if is_ragged(values):
        values = _pad(values, default, sizes[1:])
    wanted = sizes[1] if len(sizes) > 1 else None
    splits, rows, number = ragged.row_splits, ragged.num_rows(), int(values.shape[0])
    if wanted is None:
        wanted = _longest(ragged)
    rowids, positions = partition.value_rowids(splits, number), partition.positions_in_rows(splits, number)
    if isinstance(values, np.ndarray) and not partition.is_traced(splits):
        plain = np.asarray(values)
        padded = np.full((rows, wanted, *plain.shape[1:]), _fill_value(plain, default), plain.dtype)
        fits = positions < wanted
        padded[np.asarray(rowids)[fits], positions[fits]] = plain[fits]
        return to_host_tensor(padded)
    fill = jnp.zeros((), values.dtype) if default is None else as_array(default, values.dtype)
    dense = jnp.broadcast_to(fill, (rows, wanted, *values.shape[1:]))
    return dense.at[rowids, positions].set(values, mode="drop")


def _longest(ragged: RaggedBase) -> int:
    if ragged.uniform_row_length is not None:
        return ragged.uniform_row_length
    if partition.is_traced(ragged.row_splits):
        keras_hooks.run_on_host_if_possible("to_tensor() needs the lengths of the rows of a ragged tensor")
        raise ValueError(UNKNOWN_LENGTH)
    return int(np.max(np.asarray(ragged.lengths()), initial=0))


def _fill_value(values: np.ndarray[Any, Any], default: Any) -> Any:
    if default is None:
        return b"" if values.dtype.kind == "O" else np.zeros((), values.dtype)
    if is_text(default):
        filled = as_bytes_array(default)
        return filled.item() if filled.ndim == 0 else filled
    return np.asarray(default).astype(values.dtype)


def _fit_first_dim(dense: Any, wanted: int | None, default: Any) -> Any:
    found = int(dense.shape[0])
    if wanted is None or wanted == found:
        return dense
    if wanted < found:
        return dense[:wanted]
    xp: Any = np if isinstance(dense, np.ndarray) else jnp
    fill = _fill_value(np.asarray(dense), default) if xp is np else (0 if default is None else as_array(default))
    rest = xp.broadcast_to(xp.asarray(fill, dense.dtype), (wanted - found, *dense.shape[1:]))
    joined = xp.concatenate([xp.asarray(dense), rest])
    return to_host_tensor(joined) if xp is np else joined


def bounding_sizes(ragged: Any) -> list[int]:
    """The shape of the smallest dense tensor that holds all rows."""
    if not is_ragged(ragged):
        return [int(size) for size in ragged.shape]
    return [ragged.num_rows(), _longest(ragged), *bounding_sizes(ragged.values)[1:]]
