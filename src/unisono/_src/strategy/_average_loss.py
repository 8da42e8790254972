"""Scales the losses of one replica so that their sum over replicas is the average over the global batch."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono._src.strategy import get_replica_context

CROSS_REPLICA = """`{name}` was called where code runs once for all replicas. Call it inside the function that
`strategy.run` calls on each: there the number of replicas to divide by is known."""

NO_ROWS = """compute_average_loss: expected a loss for each row of the batch, got a single number.
Make the loss with reduction="none"; a number that is averaged already cannot be averaged again."""

WEIGHT_SHAPE = """compute_average_loss: sample_weight has the shape {weight}, and the losses have {loss}.
Expected one weight for each row: an array with as many rows, and no more dimensions than the losses."""


def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Any:
    """The sum of the losses of this replica's rows, divided by the size of the global batch, so that the sum over
    replicas is the average.

    >>> import unisono
    >>> float(unisono.nn.compute_average_loss(np.array([1.0, 2.0, 3.0]), global_batch_size=6))
    1.0

    Args:
        per_example_loss: a loss for each row.
        sample_weight: a weight for each row.
        global_batch_size: the divisor. If None, the rows of this replica times the number of replicas.
    """
    replica = get_replica_context()
    if replica is None:
        raise RuntimeError(CROSS_REPLICA.format(name="compute_average_loss"))
    loss = jnp.asarray(per_example_loss)
    if loss.ndim == 0:
        raise ValueError(NO_ROWS)
    dtype = loss.dtype
    if sample_weight is not None:
        loss = loss * _fit_weights(jnp.asarray(sample_weight, dtype), loss)
    if global_batch_size is None:
        global_batch_size = replica.num_replicas_in_sync * loss.shape[0]
    size = _check_batch_size(global_batch_size)
    total = jnp.sum(loss)
    # A batch without rows has no average; it contributes 0 to the sum.
    return jnp.where(size == 0, jnp.zeros_like(total), total / jnp.maximum(size, 1).astype(total.dtype))


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """Divides the sum of regularization losses by the number of replicas, because each replica adds the same sum.

    >>> import unisono
    >>> float(unisono.nn.scale_regularization_loss(np.array([1.0, 2.0])))
    3.0
    """
    replica = get_replica_context()
    if replica is None:
        raise RuntimeError(CROSS_REPLICA.format(name="scale_regularization_loss"))
    return jnp.sum(jnp.asarray(regularization_loss)) / replica.num_replicas_in_sync


def _fit_weights(weight: Any, loss: Any) -> Any:
    """The weights in the rank of the losses, so that each belongs to a row."""
    if weight.ndim == loss.ndim + 1 and weight.shape[-1] == 1:
        return weight[..., 0]
    if weight.ndim > loss.ndim:
        raise ValueError(WEIGHT_SHAPE.format(weight=weight.shape, loss=loss.shape))
    return jnp.reshape(weight, weight.shape + (1,) * (loss.ndim - weight.ndim))


def _check_batch_size(size: Any) -> Any:
    array = jnp.asarray(size)
    if array.ndim or not jnp.issubdtype(array.dtype, jnp.integer):
        raise TypeError(f"global_batch_size is a whole number; got {size!r}.")
    if isinstance(size, int | np.integer) and size < 0:
        raise ValueError(f"global_batch_size is at least 0; got {size}.")
    return array
