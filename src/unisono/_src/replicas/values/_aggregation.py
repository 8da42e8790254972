"""Variables with a value per replica, as the states of metrics: aggregated value and per-replica values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from unisono._src.devices import Placement

NO_AGGREGATION = """The variable {name!r} has a value of its own on every replica (synchronization="on_read"), and no
aggregation to combine them. Make it with aggregation="sum", "mean" or "only_first_replica", or read it inside `run`."""


def aggregate(per_replica: Any, aggregation: str, name: str) -> Any:
    """The aggregated value of per-replica values, which have the replicas as their first dimension."""
    if aggregation == "sum":
        return jnp.sum(per_replica, 0, dtype=per_replica.dtype)
    if aggregation == "mean":
        return jnp.mean(per_replica, 0).astype(per_replica.dtype)
    if aggregation == "only_first_replica":
        return per_replica[0]
    raise ValueError(NO_AGGREGATION.format(name=name))


def spread(value: Any, aggregation: str, num_replicas: int) -> Any:
    """Per-replica values whose aggregated value is ``value``, to the bit: of a sum the first replica has all of it."""
    value = jnp.asarray(value)
    if aggregation == "sum":
        return jnp.zeros((num_replicas, *value.shape), value.dtype).at[0].set(value)
    return jnp.broadcast_to(value, (num_replicas, *value.shape))


def aggregate_on_devices(per_replica: jax.Array, aggregation: str, name: str, placement: Placement) -> jax.Array:
    """:func:`aggregate` of arrays, whole on every device."""
    with jax.ensure_compile_time_eval():
        return _aggregate_program(aggregation, name, placement)(per_replica)


def spread_on_devices(value: jax.Array, aggregation: str, placement: Placement) -> jax.Array:
    """:func:`spread` of arrays, each value on the device of its replica."""
    with jax.ensure_compile_time_eval():
        return _spread_program(aggregation, placement)(value)


@functools.lru_cache(64)
def _aggregate_program(aggregation: str, name: str, placement: Placement) -> Callable[[jax.Array], jax.Array]:
    return jax.jit(lambda values: aggregate(values, aggregation, name), out_shardings=placement.replicated)


@functools.lru_cache(64)
def _spread_program(aggregation: str, placement: Placement) -> Callable[[jax.Array], jax.Array]:
    num_replicas = placement.num_replicas
    return jax.jit(lambda value: spread(value, aggregation, num_replicas), out_shardings=placement.sharded_rows)
