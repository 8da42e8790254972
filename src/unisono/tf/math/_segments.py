"""Sums and their like of rows that belong together."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._dtypes import as_dtype
from unisono.tf._op import op
from unisono.tf._operands import static_int, static_value
from unisono.tf._tensors import as_array

UNKNOWN_COUNT = "tf.math.segment_*: the number of segments is that of the last id and one more, so the ids"


@op
def segment_sum(data: Any, segment_ids: Any) -> Any:
    """The sum of the rows with each id. Ids are sorted."""
    return jax.ops.segment_sum(as_array(data), as_array(segment_ids), _count(segment_ids))


@op
def segment_mean(data: Any, segment_ids: Any) -> Any:
    """The mean of the rows with each id, 0 where there is none. Ids are sorted."""
    return _mean(as_array(data), as_array(segment_ids), _count(segment_ids))


@op
def segment_max(data: Any, segment_ids: Any) -> Any:
    """The largest of the rows with each id, 0 where there is none. Ids are sorted."""
    data, ids, count = as_array(data), as_array(segment_ids), _count(segment_ids)
    return _or_zero(jax.ops.segment_max(data, ids, count), ids, count)


@op
def segment_min(data: Any, segment_ids: Any) -> Any:
    """The smallest of the rows with each id, 0 where there is none. Ids are sorted."""
    data, ids, count = as_array(data), as_array(segment_ids), _count(segment_ids)
    return _or_zero(jax.ops.segment_min(data, ids, count), ids, count)


@op
def segment_prod(data: Any, segment_ids: Any) -> Any:
    """The product of the rows with each id, 1 where there is none. Ids are sorted."""
    return jax.ops.segment_prod(as_array(data), as_array(segment_ids), _count(segment_ids))


@op
def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The sum of the rows with each id."""
    return jax.ops.segment_sum(*_flat(data, segment_ids), static_int(num_segments))


@op
def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The mean of the rows with each id, 0 where there is none."""
    return _mean(*_flat(data, segment_ids), static_int(num_segments))


@op
def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The sum of the rows with each id, divided by the square root of their number."""
    data, ids = _flat(data, segment_ids)
    total = jax.ops.segment_sum(data, ids, static_int(num_segments))
    return total / jnp.sqrt(_at_least_one(data, ids, static_int(num_segments)))


@op
def unsorted_segment_max(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The largest of the rows with each id, the smallest number there is where there is none."""
    data, ids = _flat(data, segment_ids)
    return _or_limit(jax.ops.segment_max(data, ids, static_int(num_segments)), ids, static_int(num_segments), "min")


@op
def unsorted_segment_min(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The smallest of the rows with each id, the largest number there is where there is none."""
    data, ids = _flat(data, segment_ids)
    return _or_limit(jax.ops.segment_min(data, ids, static_int(num_segments)), ids, static_int(num_segments), "max")


@op
def unsorted_segment_prod(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The product of the rows with each id, 1 where there is none."""
    return jax.ops.segment_prod(*_flat(data, segment_ids), static_int(num_segments))


def _count(segment_ids: Any) -> int:
    ids = static_value(segment_ids, UNKNOWN_COUNT)
    return int(ids[-1]) + 1 if len(ids) else 0


def _flat(data: Any, segment_ids: Any) -> tuple[Any, Any]:
    """Rows and their ids, where ids may have several dims, which are the first ones of ``data``."""
    data, ids = as_array(data), as_array(segment_ids)
    return data.reshape(ids.size, *data.shape[ids.ndim :]), ids.reshape(-1)


def _mean(data: Any, ids: Any, count: int) -> Any:
    total = jax.ops.segment_sum(data, ids, count)
    divisor = _at_least_one(data, ids, count)
    return (total / divisor).astype(data.dtype)


def _at_least_one(data: Any, ids: Any, count: int) -> Any:
    rows = jnp.maximum(_rows(ids, count), 1)
    return rows.reshape(-1, *[1] * (data.ndim - 1)).astype(data.dtype)


def _rows(ids: Any, count: int) -> Any:
    return jax.ops.segment_sum(jnp.ones_like(ids), ids, count)


def _or_zero(found: Any, ids: Any, count: int) -> Any:
    return jnp.where(_empty(found, ids, count), jnp.zeros((), found.dtype), found)


def _or_limit(found: Any, ids: Any, count: int, which: str) -> Any:
    limit = getattr(as_dtype(found.dtype), which)
    return jnp.where(_empty(found, ids, count), jnp.asarray(limit, found.dtype), found)


def _empty(found: Any, ids: Any, count: int) -> Any:
    return (_rows(ids, count) == 0).reshape(-1, *[1] * (found.ndim - 1))
