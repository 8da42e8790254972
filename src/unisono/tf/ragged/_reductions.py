"""Reductions of ragged tensors along any dim, as sums, products and extremes of segments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._dtypes import as_dtype
from unisono.tf._op import get_op
from unisono.tf._operands import as_floating, static_axes
from unisono.tf._tensors import as_array, to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import flat_values_of, is_ragged, with_flat_values_of
from unisono.tf.ragged._ragged_tensor import RaggedTensor


@dataclass(frozen=True)
class Segments:
    """A reduction of the values that belong to the same segment.

    Attributes:
        on_host: for NumPy arrays.
        on_device: for JAX arrays, in compiled functions too.
        empty: the value of a segment without values, for a dtype. The one of JAX is the same for sums and products.
    """

    on_host: np.ufunc
    on_device: Callable[..., Any]
    empty: Callable[[Any], Any]

    def reduce(self, values: Any, ids: Any, number: int) -> Any:
        """One value for each segment."""
        if isinstance(values, np.ndarray) and not partition.is_traced(ids):
            plain = np.asarray(values)
            result = np.full((number, *plain.shape[1:]), self.empty(plain.dtype), plain.dtype)
            self.on_host.at(result, np.asarray(ids), plain)
            return to_host_tensor(result)
        return self.on_device(jnp.asarray(values), ids if partition.is_traced(ids) else np.asarray(ids), number)


def _smallest(dtype: Any) -> Any:
    return np.array(False) if dtype == np.bool_ else as_dtype(dtype).min


def _largest(dtype: Any) -> Any:
    return np.array(True) if dtype == np.bool_ else as_dtype(dtype).max


def _largest_of_segments(values: Any, ids: Any, number: int) -> Any:
    if values.dtype == jnp.bool_:
        return jax.ops.segment_max(values.astype(jnp.int32), ids, number) > 0
    largest = jax.ops.segment_max(values, ids, number)
    # Of an empty segment JAX gives minus infinity, TensorFlow the smallest number.
    return jnp.maximum(largest, _smallest(values.dtype)) if jnp.issubdtype(values.dtype, jnp.floating) else largest


def _smallest_of_segments(values: Any, ids: Any, number: int) -> Any:
    if values.dtype == jnp.bool_:
        return jax.ops.segment_min(values.astype(jnp.int32), ids, number) > 0
    smallest = jax.ops.segment_min(values, ids, number)
    return jnp.minimum(smallest, _largest(values.dtype)) if jnp.issubdtype(values.dtype, jnp.floating) else smallest


SUM: Final = Segments(np.add, jax.ops.segment_sum, lambda dtype: 0)
PRODUCT: Final = Segments(np.multiply, jax.ops.segment_prod, lambda dtype: 1)
MAXIMUM: Final = Segments(np.maximum, _largest_of_segments, _smallest)
MINIMUM: Final = Segments(np.minimum, _smallest_of_segments, _largest)

_WHOLE: Final = {
    id(SUM): "reduce_sum",
    id(PRODUCT): "reduce_prod",
    id(MAXIMUM): "reduce_max",
    id(MINIMUM): "reduce_min",
}


def reduce_segments(kind: Segments, data: Any, ids: Any, number: int) -> Any:
    """The rows of a dense or ragged tensor, reduced by segment. Rows of a ragged one are aligned at their first values,
    and the result is as long as the longest of a segment."""
    if not is_ragged(data):
        return kind.reduce(data, ids, number)
    numbers = partition.known_splits(ids, "A reduction over rows of different lengths")
    splits = partition.known_splits(data.row_splits, "A reduction over rows of different lengths")
    longest = np.zeros(number, np.int64)
    np.maximum.at(longest, numbers, np.diff(splits))
    new_splits = partition.splits_from_lengths(longest)
    starts = np.asarray(new_splits)[:-1][numbers]
    inner_ids = partition.join_ranges(starts, np.diff(splits))
    return data.rebuild(reduce_segments(kind, data.values, inner_ids, int(longest.sum())), new_splits)


def reduce_ragged(kind: Segments, value: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """A reduction along one dim, several, or all."""
    axes = static_axes(axis)
    if not is_ragged(value):
        return get_op(f"math.{_WHOLE[id(kind)]}")(value, axis, keepdims)
    rank = len(value.shape)
    if axes is None:
        axes = tuple(range(rank))
        if not keepdims:
            return get_op(f"math.{_WHOLE[id(kind)]}")(flat_values_of(value))
    chosen = sorted({each % rank for each in (axes if isinstance(axes, tuple) else (axes,))}, reverse=True)
    result: Any = value
    for each in chosen:
        result = _reduce_axis(kind, result, each) if is_ragged(result) else _reduce_dense(kind, result, each)
        if keepdims:
            result = get_op("expand_dims")(result, each)
    return result


def _reduce_dense(kind: Segments, value: Any, axis: int) -> Any:
    return get_op(f"math.{_WHOLE[id(kind)]}")(value, axis)


def _reduce_axis(kind: Segments, value: Any, axis: int) -> Any:
    if axis > 1:
        inner = value.values
        reduced = _reduce_axis(kind, inner, axis - 1) if is_ragged(inner) else _reduce_dense(kind, inner, axis - 1)
        return value.with_rows_of(reduced)
    if axis == 1:
        return reduce_segments(kind, value.values, value.rowids(), value.num_rows())
    positions = partition.positions_in_rows(value.row_splits, value.num_values())
    if value.uniform_row_length is not None:
        longest = value.uniform_row_length
    else:
        splits = partition.known_splits(value.row_splits, "A reduction along axis 0")
        longest = int(np.max(np.diff(splits), initial=0))
    return reduce_segments(kind, value.values, positions, longest)


def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return reduce_ragged(SUM, input_tensor, axis, keepdims)


def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return reduce_ragged(PRODUCT, input_tensor, axis, keepdims)


def reduce_max(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return reduce_ragged(MAXIMUM, input_tensor, axis, keepdims)


def reduce_min(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return reduce_ragged(MINIMUM, input_tensor, axis, keepdims)


def reduce_all(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return reduce_ragged(MINIMUM, _as_type(input_tensor, bool), axis, keepdims)


def reduce_any(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return reduce_ragged(MAXIMUM, _as_type(input_tensor, bool), axis, keepdims)


def count(value: Any, axis: Any, keepdims: bool, dtype: Any) -> Any:
    """The number of values along dims."""
    flat = flat_values_of(value)
    ones = to_host_tensor(np.ones(tuple(flat.shape), dtype)) if isinstance(flat, np.ndarray) else None
    return reduce_sum(with_flat_values_of(value, jnp.ones(flat.shape, dtype) if ones is None else ones), axis, keepdims)


def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    total = reduce_sum(input_tensor, axis, keepdims)
    flat = flat_values_of(total)
    if not is_ragged(total) and not flat.shape:  # of everything
        return get_op("math.reduce_mean")(flat_values_of(input_tensor))
    number = count(input_tensor, axis, keepdims, np.dtype(flat.dtype))
    numbers = flat_values_of(number)
    mean = get_op("math.truediv")(as_array(flat), as_array(numbers))  # of integers too, unlike that of dense tensors
    return with_flat_values_of(total, mean)


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean square minus the squared mean, in the form that does not cancel: of differences from the mean."""
    mean = reduce_mean(input_tensor, axis, keepdims=True)
    axes, rank = static_axes(axis), len(input_tensor.shape)
    if axes is not None and any(each % rank == 0 for each in (axes if isinstance(axes, tuple) else (axes,))):
        # A mean for each position in the rows, which are not all as long: that does not broadcast to ragged rows.
        padded, means = (each.to_tensor() if is_ragged(each) else each for each in (input_tensor, mean))
        difference = _without_padding(get_op("math.subtract")(padded, means), input_tensor)
    else:
        difference = get_op("math.subtract")(input_tensor, mean)
    return reduce_mean(get_op("math.square")(difference), axis, keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return get_op("math.sqrt")(reduce_variance(input_tensor, axis, keepdims))


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """That of rows that are padded with minus infinity, whose power is zero."""
    if axis is None and not keepdims:
        return get_op("math.reduce_logsumexp")(flat_values_of(input_tensor))
    floating = with_flat_values_of(input_tensor, as_floating(flat_values_of(input_tensor)))
    padded = floating.to_tensor(default_value=-np.inf)
    dense = get_op("math.reduce_logsumexp")(padded, axis, keepdims)
    return _without_padding(dense, reduce_max(input_tensor, axis, keepdims))


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """Cumulative sums of the padded rows, without the padding."""
    return _without_padding(get_op("math.cumsum")(x.to_tensor(), axis, exclusive, reverse), x)


def _without_padding(dense: Any, template: Any) -> Any:
    """The values of a padded tensor that are in the rows of ``template``."""
    if not is_ragged(template):
        return dense
    cut = RaggedTensor.from_tensor(dense, lengths=template.nested_row_lengths())
    return with_flat_values_of(template, flat_values_of(cut))


def _as_type(value: Any, dtype: Any) -> Any:
    return with_flat_values_of(value, flat_values_of(value).astype(dtype))


def argmax(input: Any, axis: Any = None, output_type: Any = "int64") -> Any:
    return _arg_extreme(MAXIMUM, input, axis, output_type)


def argmin(input: Any, axis: Any = None, output_type: Any = "int64") -> Any:
    return _arg_extreme(MINIMUM, input, axis, output_type)


def _arg_extreme(kind: Segments, value: RaggedTensor, axis: Any, output_type: Any) -> Any:
    """The position in each row of its first largest or smallest value."""
    if static_axes(axis) not in (1, -1) or len(value.shape) != 2:  # ragged along the dim that is reduced
        raise ValueError("argmax and argmin of a ragged tensor: expected a matrix and axis=1.")
    best = kind.reduce(value.values, value.rowids(), value.num_rows())
    is_best = partition.take_rows(best, value.rowids()) == value.values
    positions = jnp.asarray(partition.positions_in_rows(value.row_splits, value.num_values()))
    candidates = jnp.where(jnp.asarray(is_best), positions, value.num_values())
    first = MINIMUM.reduce(candidates, value.rowids(), value.num_rows())
    return get_op("cast")(jnp.where(first > value.num_values(), 0, first), output_type)
