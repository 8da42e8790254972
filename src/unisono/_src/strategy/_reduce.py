"""From the values of all replicas to one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src.devices import Placement
from unisono._src.jax_hooks import uncommit
from unisono._src.replicas import context
from unisono._src.replicas.values import (
    DistributedValues,
    PerReplica,
    Sharded,
    Unsplit,
    apply_packed,
    as_program_input,
    flatten_with_none,
)
from unisono._src.strategy._of_replica import OfReplica
from unisono._src.strategy._reduce_op import ReduceOp

INSIDE_REPLICA = """`{method}` was called inside a function that runs on one replica, which has no values of others.
There, write unisono.get_replica_context().{instead}(...)."""

NOT_DISTRIBUTED = """reduce: {value!r} is one value for all replicas, and their sum is not told by it.
Sum what `strategy.run` returned, or take ReduceOp.MEAN."""

UNLIKE_LENGTHS = """reduce: the replicas have arrays of different lengths, {shares}, which cannot be added.
Say along which axis to reduce as well: strategy.reduce(op, value, axis=0)."""

UNLIKE_SHAPES = """gather: the replicas have arrays of shapes {shapes}, which may differ along axis {axis} only."""

NO_DIMENSION = """gather joins arrays along one of their dimensions; the replicas have numbers, which have none.
Return arrays of rank 1 from the function, with keras.ops.expand_dims(value, 0) for example."""


def reduce(placement: Placement, reduce_op: Any, value: Any, axis: int | tuple[int, ...] | None) -> Any:
    """The sum or mean over replicas, and along ``axis`` of the values if it is not None."""
    _check_context("reduce", "all_reduce")
    operation = ReduceOp.of(reduce_op)
    return jax.tree.map(lambda leaf: _reduced(placement, operation, leaf, axis), value)


def gather(placement: Placement, value: Any, axis: int) -> Any:
    """The values of all replicas one after the other along ``axis``."""
    _check_context("gather", "all_gather")
    return jax.tree.map(lambda leaf: _gathered(placement, leaf, axis), value)


def local_results(value: Any, number: int) -> tuple[Any, ...]:
    """A nest for each replica of this process, out of one nest for all of them."""
    leaves, tree = flatten_with_none(value)
    if not any(isinstance(leaf, DistributedValues) for leaf in leaves):
        if isinstance(value, keras.Variable) and number > 1:
            return value.values  # type: ignore[no-any-return]
        return (value,)
    # Not bound to their devices: what belongs to the strategy is on all of them, and `model(x)` needs both.
    columns = [
        tuple(map(uncommit, leaf.values)) if isinstance(leaf, DistributedValues) else (leaf,) * number
        for leaf in leaves
    ]
    return tuple(jax.tree.unflatten(tree, column) for column in zip(*columns, strict=True))


def _check_context(method: str, instead: str) -> None:
    if context.current_replica() is not None:
        raise RuntimeError(INSIDE_REPLICA.format(method=method, instead=instead))


def _reduced(placement: Placement, operation: ReduceOp, leaf: Any, axis: Any) -> Any:
    if isinstance(leaf, OfReplica):
        return _reduced_in_merge(operation, leaf, axis)
    if isinstance(leaf, keras.Variable):
        leaf = leaf.value
    if not isinstance(leaf, PerReplica):
        if placement.num_replicas > 1 and operation is ReduceOp.SUM and axis is None and not _is_zero(leaf):
            raise ValueError(NOT_DISTRIBUTED.format(value=leaf))
        return leaf if axis is None else _over(operation, axis)(jnp.asarray(leaf))
    held = as_program_input(leaf, placement)
    if isinstance(held, Sharded) and held.total is not None and axis is None:
        return held.total if operation is ReduceOp.SUM else held.total / held.number
    if isinstance(held, Sharded):
        return _rows_program(operation, axis, held.scalars, placement)(held.array)
    if axis is None and held.is_batch:
        raise ValueError(UNLIKE_LENGTHS.format(shares=held.shares))
    # One replica has done the work of all: there is nothing to add to its value.
    return held.value if axis is None else _over(operation, axis)(held.value)


def _reduced_in_merge(operation: ReduceOp, leaf: OfReplica, axis: Any) -> Any:
    over = leaf.replica.sum if operation is ReduceOp.SUM else leaf.replica.mean
    return over(leaf.own if axis is None else _over(operation, axis)(leaf.own))


def _over(operation: ReduceOp, axis: Any) -> Callable[[Any], Any]:
    return functools.partial(jnp.sum if operation is ReduceOp.SUM else jnp.mean, axis=axis)


@functools.lru_cache(256)
def _rows_program(operation: ReduceOp, axis: Any, scalars: bool, placement: Placement) -> Callable[[Any], Any]:
    def program(array: Any) -> Any:
        stacked = Sharded(array, scalars, placement).stacked
        axes = (axis,) if isinstance(axis, int) else tuple(axis or ())
        inner = tuple(each + 1 if each >= 0 else each for each in axes)
        if not placement.needs_merged_sums:
            return _over(operation, (0, *inner))(stacked)
        own = _over(operation, inner)(stacked) if inner else stacked
        return apply_packed(own, functools.partial(jnp.sum if operation is ReduceOp.SUM else jnp.mean, axis=0), lead=1)

    return jax.jit(program, out_shardings=placement.replicated)


def _gathered(placement: Placement, leaf: Any, axis: int) -> Any:
    if isinstance(leaf, OfReplica):
        return leaf.replica.gather(leaf.own, axis)
    if not isinstance(leaf, PerReplica):
        if placement.num_replicas > 1:
            return jnp.concatenate([jnp.asarray(leaf)] * placement.num_replicas, axis)
        return leaf
    values = leaf.values
    shapes = [np.shape(value) for value in values]
    if any(shape == () for shape in shapes):
        raise ValueError(NO_DIMENSION)
    if len({(len(shape), *shape[:axis], *shape[axis:][1:]) for shape in shapes}) > 1:
        raise ValueError(UNLIKE_SHAPES.format(shapes=shapes, axis=axis))
    held = leaf.held
    if isinstance(held, Unsplit) and held.has_rows and axis == 0:
        return held.value
    if isinstance(held, Sharded):
        return _gather_program(axis, held.number, placement)(held.array)
    if any(isinstance(value, jax.core.Tracer) for value in values):
        return jnp.concatenate(values, axis)
    return jax.device_put(np.concatenate([np.asarray(value) for value in values], axis), placement.replicated)


@functools.lru_cache(64)
def _gather_program(axis: int, number: int, placement: Placement) -> Callable[[Any], Any]:
    return jax.jit(lambda array: jnp.concatenate(jnp.split(array, number), axis), out_shardings=placement.replicated)


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | float) and value == 0
