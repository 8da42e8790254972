"""Jacobians: one gradient for every element of the target, all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from unisono._src.tracing.tape._backward_pass import compute_gradients
from unisono._src.tracing.tape._record import Record

BATCHES_DIFFER = """batch_jacobian takes a target and a source with the batch as their first dimension and at least one
more, got the shapes {target} and {source}. For anything else use jacobian()."""


def compute_jacobians(
    record: Record,
    target: Any,
    sources: Sequence[Any],
    recompute: bool,
    parallel_iterations: int | None,
    vectorized: bool,
) -> list[Any]:
    """For each source the derivatives of all elements of ``target``, in the shape ``target.shape + source.shape``."""
    size = math.prod(target.shape)

    def row(index: Any) -> list[Any]:
        cotangent = jax.nn.one_hot(index, size, dtype=target.dtype).reshape(target.shape)
        return compute_gradients(record, [target], [cotangent], sources, recompute)

    rows = _map_indices(row, size, parallel_iterations, vectorized)
    return [
        None if one is None else one.reshape(*target.shape, *source.shape)
        for one, source in zip(rows, sources, strict=True)
    ]


def compute_batch_jacobian(
    record: Record, target: Any, source: Any, recompute: bool, parallel_iterations: int | None, vectorized: bool
) -> Any | None:
    """The derivatives of ``target[i]`` by ``source[i]``, for every i. Those by other rows are assumed to be zero."""
    if len(target.shape) < 2 or len(source.shape) < 2 or target.shape[0] != source.shape[0]:
        raise ValueError(BATCHES_DIFFER.format(target=tuple(target.shape), source=tuple(source.shape)))
    rows, row_size = target.shape[0], math.prod(target.shape[1:])

    def column(index: Any) -> Any:
        one_hot = jax.nn.one_hot(index, row_size, dtype=target.dtype)
        cotangent = jnp.broadcast_to(one_hot, (rows, row_size)).reshape(target.shape)
        return compute_gradients(record, [target], [cotangent], [source], recompute)[0]

    columns = _map_indices(column, row_size, parallel_iterations, vectorized)
    return None if columns is None else jnp.moveaxis(columns, 0, 1).reshape(*target.shape, *source.shape[1:])


def _map_indices(function: Callable[[Any], Any], number: int, parallel_iterations: int | None, vectorized: bool) -> Any:
    """``function`` of 0, 1, …, stacked: all at once, some at a time, or one by one."""
    indices = jnp.arange(number)
    if not vectorized:
        return jax.lax.map(function, indices)
    if parallel_iterations is None:
        return jax.vmap(function)(indices)
    return jax.lax.map(function, indices, batch_size=parallel_iterations)
