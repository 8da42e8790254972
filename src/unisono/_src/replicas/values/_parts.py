"""A value that is made up of a part for each replica, as the state of a metric is: from the whole to parts and back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from unisono._src.devices import Placement

NO_AGGREGATION = """The variable {name!r} has a value of its own on every replica (synchronization="on_read") and no
way to make one of them. Make it with aggregation="sum", "mean" or "only_first_replica", or read it inside `run`."""


def aggregate(spread: Any, aggregation: str, name: str) -> Any:
    """One value out of ``parts``, which has the replicas as its first dimension."""
    if aggregation == "sum":
        return jnp.sum(spread, 0, dtype=spread.dtype)
    if aggregation == "mean":
        return jnp.mean(spread, 0).astype(spread.dtype)
    if aggregation == "only_first_replica":
        return spread[0]
    raise ValueError(NO_AGGREGATION.format(name=name))


def spread(value: Any, aggregation: str, number: int) -> Any:
    """``value`` as parts whose whole it is, to the bit: of a sum the first replica has all of it."""
    value = jnp.asarray(value)
    if aggregation == "sum":
        return jnp.zeros((number, *value.shape), value.dtype).at[0].set(value)
    return jnp.broadcast_to(value, (number, *value.shape))


def aggregate_on_devices(spread: jax.Array, aggregation: str, name: str, placement: Placement) -> jax.Array:
    """:func:`whole` of arrays, where variables live."""
    with jax.ensure_compile_time_eval():
        return _whole_program(aggregation, name, placement)(spread)


def spread_on_devices(value: jax.Array, aggregation: str, placement: Placement) -> jax.Array:
    """:func:`parts` of arrays, each on the device of its replica."""
    with jax.ensure_compile_time_eval():
        return _parts_program(aggregation, placement)(value)


@functools.lru_cache(64)
def _whole_program(aggregation: str, name: str, placement: Placement) -> Callable[[jax.Array], jax.Array]:
    return jax.jit(lambda value: aggregate(value, aggregation, name), out_shardings=placement.replicated)


@functools.lru_cache(64)
def _parts_program(aggregation: str, placement: Placement) -> Callable[[jax.Array], jax.Array]:
    number = placement.num_replicas
    return jax.jit(lambda value: spread(value, aggregation, number), out_shardings=placement.sharded_rows)
