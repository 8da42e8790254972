"""`tf.nn.embedding_lookup_sparse`: rows of a table, combined by rows of ids."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import get_op
from unisono.tf._tensors import as_array
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import is_ragged


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any = None,
    combiner: Any = None,
    max_norm: Any = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """The handler for sparse and ragged ids."""
    if combiner not in (None, "mean", "sqrtn", "sum"):
        raise ValueError(f"combiner is {combiner!r}. Expected 'mean', 'sqrtn' or 'sum'.")
    rows, number = _rows_of(sp_ids)
    embedded = get_op("nn.embedding_lookup")(params, sp_ids.values, max_norm)
    weights = jnp.ones(embedded.shape[:1], embedded.dtype)
    if sp_weights is not None:
        weights = as_array(sp_weights.values, embedded.dtype)
    total = jax.ops.segment_sum(embedded * weights[:, None], rows, number)
    if combiner == "sum":
        return total
    power = jnp.square(weights) if combiner == "sqrtn" else weights
    divisor = jax.ops.segment_sum(power, rows, number)
    divisor = jnp.sqrt(divisor) if combiner == "sqrtn" else divisor
    return total / jnp.where(divisor == 0, 1, divisor)[:, None]


def _rows_of(ids: Any) -> tuple[Any, int]:
    if is_ragged(ids):
        rows = ids.rowids()
        return rows if partition.is_traced(rows) else np.asarray(rows), ids.num_rows()
    indices = ids.indices if partition.is_traced(ids.indices) else np.asarray(ids.indices)
    return indices[:, 0], ids.dense_sizes[0]
