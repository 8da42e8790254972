"""Broadcasting between ragged tensors, and between ragged and dense ones.

As between dense tensors, a dim of size 1 is repeated, and missing outer dims count as 1. Rows of length 1 are repeated
row by row.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono._src import keras_hooks
from unisono.tf._operands import as_bytes_array
from unisono.tf._tensors import HostTensor, as_array, convert_to_tensor, is_text, to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import flat_values_of, gather_rows, is_ragged, len_of, ragged_rank_of, with_flat_values_of
from unisono.tf.ragged._ragged_tensor import RaggedTensor

INCOMPATIBLE = """Ragged tensors of the shapes {x} and {y} cannot be broadcast: their rows have different lengths, and
neither has the length 1{where}."""

TRACED = """Inside a compiled function ragged tensors are combined with ragged tensors of the same rows, with scalars,
and with dense tensors of one value per row, of shape [rows, 1]. Got the shapes {x} and {y}."""


def broadcast(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """The flat values of both, ready to be combined element by element, and a ragged tensor with the rows of the
    result. At least one of the two is ragged."""
    x, y = _as_operand(x), _as_operand(y)
    if is_ragged(x) and is_ragged(y) and have_same_rows(x, y):
        return flat_values_of(x), flat_values_of(y), x
    template, other, swapped = (x, y, False) if is_ragged(x) else (y, x, True)
    if not is_ragged(other):
        found = _broadcast_dense(template, other)
        if found is not None:
            flat = flat_values_of(template)
            return (found, flat, template) if swapped else (flat, found, template)
    if any(partition.is_traced(*_splits(each)) for each in (x, y)):
        keras_hooks.run_on_host_if_possible("broadcasting needs the lengths of the rows of a ragged tensor")
        raise ValueError(TRACED.format(x=x.shape, y=y.shape))
    return _broadcast_known(x, y)


def have_same_rows(x: Any, y: Any) -> bool:
    """Whether all row splits are equal. Inside compiled functions splits of equal sizes count as equal."""
    first, second = _splits(x), _splits(y)
    if len(first) != len(second):
        return False
    for one, other in zip(first, second, strict=True):
        if one is other:
            continue
        if one.shape != other.shape:
            return False
        if not partition.is_traced(one, other) and not np.array_equal(np.asarray(one), np.asarray(other)):
            return False
    if not any(partition.is_traced(each) for each in first + second):
        return True
    return bool(len_of(flat_values_of(x)) == len_of(flat_values_of(y)))


def _splits(value: Any) -> list[Any]:
    return [value.row_splits, *_splits(value.values)] if is_ragged(value) else []


def _as_operand(value: Any) -> Any:
    if is_ragged(value) or isinstance(value, HostTensor):
        return value
    if is_text(value):
        return to_host_tensor(as_bytes_array(value))
    # Python numbers stay as they are, so that they take the dtype of the other operand.
    return value if isinstance(value, int | float | complex) else as_array(value)


def _broadcast_dense(ragged: Any, dense: Any) -> Any:
    """A dense operand for the flat values of a ragged one; None if that takes more than choosing rows."""
    shape = tuple(np.shape(dense))
    rank, ragged_rank = len(ragged.shape), ragged_rank_of(ragged)
    inner = rank - ragged_rank - 1
    if len(shape) <= inner:  # only the dims of the flat values
        return dense
    outer = (1,) * (rank - len(shape)) + shape[: len(shape) - inner]
    if len(shape) > rank or any(size != 1 for size in outer[1:]):
        return None
    tail = shape[len(shape) - inner :]
    rows = dense.reshape(outer[0], *tail)
    if outer[0] == 1:
        return rows[0]
    if outer[0] != ragged.num_rows():
        return None
    level = ragged
    while is_ragged(level):
        rows = partition.take_rows(rows, level.rowids())
        level = level.values
    return rows


def _broadcast_known(x: Any, y: Any) -> tuple[Any, Any, Any]:
    rank = max(_rank(x), _rank(y))
    levels = max(ragged_rank_of(x) + rank - _rank(x), ragged_rank_of(y) + rank - _rank(y))
    levels = min(levels, rank - 1)
    left, right = (_with_ragged_rank(each, rank, levels) for each in (x, y))
    names = TextShapes(x, y)
    rows_left, rows_right = _match(np.array([left.num_rows()]), np.array([right.num_rows()]), names, 0)
    chosen_left, chosen_right = (np.asarray(rows, np.int64) for rows in (rows_left, rows_right))
    splits: list[Any] = []
    for axis in range(1, levels + 1):
        starts = [
            np.asarray(each.row_splits)[:-1][rows] for each, rows in _pairs(left, right, chosen_left, chosen_right)
        ]
        counts = [np.asarray(each.lengths())[rows] for each, rows in _pairs(left, right, chosen_left, chosen_right)]
        first, second = _match(counts[0], counts[1], names, axis)
        wanted = np.maximum(*counts) if counts[0].size else counts[0]
        wanted = np.where((counts[0] == 0) | (counts[1] == 0), 0, wanted)
        chosen_left, chosen_right = np.repeat(starts[0], wanted) + first, np.repeat(starts[1], wanted) + second
        splits.append(partition.splits_from_lengths(wanted.astype(np.int64)))
        left, right = left.values, right.values
    flat_left, flat_right = gather_rows(left, chosen_left), gather_rows(right, chosen_right)
    template = RaggedTensor.from_nested_row_splits(np.zeros(len(chosen_left), bool), splits)
    return flat_left, flat_right, template


class TextShapes:
    """The shapes of two operands, for an error."""

    def __init__(self, x: Any, y: Any) -> None:
        self._x, self._y = x, y

    def error(self, axis: int) -> ValueError:
        where = f" along axis {axis}"
        return ValueError(INCOMPATIBLE.format(x=tuple(self._x.shape), y=tuple(self._y.shape), where=where))


def _match(left: Any, right: Any, names: TextShapes, axis: int) -> tuple[Any, Any]:
    """The positions in the rows of both for each position in the rows of the result."""
    if ((left != right) & (left != 1) & (right != 1)).any():
        raise names.error(axis)
    wanted = np.where((left == 0) | (right == 0), 0, np.maximum(left, right))
    positions = partition.join_ranges(np.zeros_like(wanted), wanted)
    return (
        np.where(np.repeat(left == 1, wanted), 0, positions),
        np.where(np.repeat(right == 1, wanted), 0, positions),
    )


def _pairs(left: Any, right: Any, rows_left: Any, rows_right: Any) -> list[tuple[Any, Any]]:
    return [(left, rows_left), (right, rows_right)]


def _rank(value: Any) -> int:
    return len(value.shape) if hasattr(value, "shape") else 0


def _with_ragged_rank(value: Any, rank: int, levels: int) -> Any:
    """The operand with ``rank`` dims, the first ones of size 1 if it had fewer, and ``levels`` ragged ones."""
    if not hasattr(value, "shape"):
        value = as_array(value)
    missing = rank - _rank(value)
    if not is_ragged(value):
        dense = value.reshape(*[1] * missing, *value.shape)
        return RaggedTensor.from_tensor(dense, ragged_rank=levels) if levels else dense
    for _ in range(missing):
        value = RaggedTensor.from_uniform_row_length(value, value.num_rows(), nrows=1)
    return _deepen(value, levels)


def _deepen(value: Any, levels: int) -> Any:
    if not levels:
        return value
    if not is_ragged(value):
        return RaggedTensor.from_tensor(value, ragged_rank=levels)
    return value.with_rows_of(_deepen(value.values, levels - 1))


def broadcast_to_rows(value: Any, template: Any) -> Any:
    """The value repeated so that it has the rows of a ragged tensor."""
    flat, _, rows = broadcast(value, template)
    flat = convert_to_tensor(flat)
    shape = np.broadcast_shapes(tuple(flat.shape), tuple(flat_values_of(rows).shape))
    if tuple(flat.shape) != shape:
        on_host = isinstance(flat, np.ndarray)
        flat = to_host_tensor(np.broadcast_to(np.asarray(flat), shape)) if on_host else jnp.broadcast_to(flat, shape)
    return with_flat_values_of(rows, flat)


def flat_operand(value: Any, template: Any) -> Any:
    """The value for each flat value of a ragged tensor, or one for all of them."""
    return broadcast(value, template)[0] if not is_ragged(value) else flat_values_of(broadcast_to_rows(value, template))
