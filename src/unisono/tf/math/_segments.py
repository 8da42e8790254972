"""Segment reductions: rows with the same segment id are summed, averaged, and so on.

`segment_*` take sorted ids and one segment more than the last id. `unsorted_segment_*` take the number of segments.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._dtypes import as_dtype
from unisono.tf._op import op
from unisono.tf._operands import static_int, static_value
from unisono.tf._tensors import as_array

UNKNOWN_COUNT = "tf.math.segment_*: the number of segments, one more than the last id,"


@op
def segment_sum(data: Any, segment_ids: Any) -> Any:
    """The sum of each segment."""
    return jax.ops.segment_sum(as_array(data), as_array(segment_ids), _num_segments(segment_ids))


@op
def segment_mean(data: Any, segment_ids: Any) -> Any:
    """The mean of each segment; 0 for an empty one."""
    return _mean(as_array(data), as_array(segment_ids), _num_segments(segment_ids))


@op
def segment_max(data: Any, segment_ids: Any) -> Any:
    """The maximum of each segment; 0 for an empty one."""
    data, ids, count = as_array(data), as_array(segment_ids), _num_segments(segment_ids)
    return _fill_empty(jax.ops.segment_max(data, ids, count), ids, count, 0)


@op
def segment_min(data: Any, segment_ids: Any) -> Any:
    """The minimum of each segment; 0 for an empty one."""
    data, ids, count = as_array(data), as_array(segment_ids), _num_segments(segment_ids)
    return _fill_empty(jax.ops.segment_min(data, ids, count), ids, count, 0)


@op
def segment_prod(data: Any, segment_ids: Any) -> Any:
    """The product of each segment; 1 for an empty one."""
    return jax.ops.segment_prod(as_array(data), as_array(segment_ids), _num_segments(segment_ids))


@op
def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The sum of each segment."""
    return jax.ops.segment_sum(*_flatten_ids(data, segment_ids), static_int(num_segments))


@op
def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The mean of each segment; 0 for an empty one."""
    return _mean(*_flatten_ids(data, segment_ids), static_int(num_segments))


@op
def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The sum of each segment divided by the square root of its number of rows."""
    (data, ids), count = _flatten_ids(data, segment_ids), static_int(num_segments)
    return jax.ops.segment_sum(data, ids, count) / jnp.sqrt(_num_rows_or_1(data, ids, count))


@op
def unsorted_segment_max(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The maximum of each segment; the smallest number of the dtype for an empty one."""
    (data, ids), count = _flatten_ids(data, segment_ids), static_int(num_segments)
    return _fill_empty(jax.ops.segment_max(data, ids, count), ids, count, as_dtype(data.dtype).min)


@op
def unsorted_segment_min(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The minimum of each segment; the largest number of the dtype for an empty one."""
    (data, ids), count = _flatten_ids(data, segment_ids), static_int(num_segments)
    return _fill_empty(jax.ops.segment_min(data, ids, count), ids, count, as_dtype(data.dtype).max)


@op
def unsorted_segment_prod(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The product of each segment; 1 for an empty one."""
    return jax.ops.segment_prod(*_flatten_ids(data, segment_ids), static_int(num_segments))


def _num_segments(segment_ids: Any) -> int:
    ids = static_value(segment_ids, UNKNOWN_COUNT)
    return int(ids[-1]) + 1 if len(ids) else 0


def _flatten_ids(data: Any, segment_ids: Any) -> tuple[Any, Any]:
    """Returns rows and one id per row. ``segment_ids`` may have several dims, the first ones of ``data``."""
    data, ids = as_array(data), as_array(segment_ids)
    return data.reshape(ids.size, *data.shape[ids.ndim :]), ids.reshape(-1)


def _mean(data: Any, ids: Any, count: int) -> Any:
    return (jax.ops.segment_sum(data, ids, count) / _num_rows_or_1(data, ids, count)).astype(data.dtype)


def _num_rows_or_1(data: Any, ids: Any, count: int) -> Any:
    return jnp.maximum(_num_rows(data, ids, count), 1).astype(data.dtype)


def _num_rows(data: Any, ids: Any, count: int) -> Any:
    """Returns the number of rows of each segment, in a shape that broadcasts against ``data``."""
    return jax.ops.segment_sum(jnp.ones_like(ids), ids, count).reshape(-1, *[1] * (data.ndim - 1))


def _fill_empty(reduced: Any, ids: Any, count: int, value: Any) -> Any:
    return jnp.where(_num_rows(reduced, ids, count) == 0, jnp.asarray(value, reduced.dtype), reduced)
