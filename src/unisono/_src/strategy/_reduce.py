"""`strategy.reduce` and `strategy.gather`: one value from the values of all replicas."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src.devices import Placement
from unisono._src.jax_hooks import uncommit
from unisono._src.processes import all_gather_json
from unisono._src.replicas import context
from unisono._src.replicas.context import Replica
from unisono._src.replicas.values import (
    DistributedValues,
    PerReplica,
    Separate,
    Sharded,
    Unsplit,
    apply_packed,
    as_program_input,
    flatten_with_none,
    is_host_only,
)
from unisono._src.strategy._host_rows import gather_host_rows

INSIDE_REPLICA = """`{method}` was called inside a function that runs on one replica, which has no values of other
replicas. There, write unisono.get_replica_context().{instead}(...)."""

NOT_DISTRIBUTED = """reduce: {value!r} is one value for all replicas, from which their sum is not known.
Sum what `strategy.run` returned, or use ReduceOp.MEAN."""

UNLIKE_LENGTHS = """reduce: the replicas have arrays of different lengths, {lengths}, which cannot be added.
Give the axis to reduce along as well: strategy.reduce(op, value, axis=0)."""

UNLIKE_SHAPES = """gather: the replicas have arrays of shapes {shapes}, which may differ along axis {axis} only."""

NO_DIMENSION = """gather concatenates arrays along one of their dimensions; the replicas have numbers, which have none.
Return arrays of rank 1 from the function, with keras.ops.expand_dims(value, 0) for example."""


class ReduceOp(enum.Enum):
    """The sum or the mean over replicas. Its name, `"sum"` or `"mean"`, is accepted everywhere instead.

    >>> import unisono
    >>> unisono.OneDeviceStrategy("cpu:0").reduce("mean", 3.0, axis=None)
    3.0
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @classmethod
    def of(cls, name: Any) -> ReduceOp:
        """A ReduceOp, or its name in upper or lower case."""
        if isinstance(name, cls):
            return name
        text = getattr(name, "name", name)
        if isinstance(text, str) and text.upper() in cls.__members__:
            return cls[text.upper()]
        raise ValueError(f"{name!r} is not a reduction. Write unisono.ReduceOp.SUM or MEAN, or their names.")


class MergeCallValue(DistributedValues):
    """A value of every replica inside a `merge_call`: represented by the value of the replica whose code is traced."""

    def __init__(self, own: Any, replica: Replica):
        self.own, self.replica = own, replica

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self.replica.stack(self.own))


def reduce(placement: Placement, reduce_op: Any, value: Any, axis: int | tuple[int, ...] | None) -> Any:
    """The sum or mean over replicas, and along ``axis`` of the values if it is not None."""
    _check_outside_replica("reduce", "all_reduce")
    operation = ReduceOp.of(reduce_op)
    return jax.tree.map(lambda leaf: _reduce_leaf(placement, operation, leaf, axis), value)


def gather(placement: Placement, value: Any, axis: int) -> Any:
    """The values of all replicas concatenated along ``axis``."""
    _check_outside_replica("gather", "all_gather")
    return jax.tree.map(lambda leaf: _gather_leaf(placement, leaf, axis), value)


def local_results(value: Any, num_local: int) -> tuple[Any, ...]:
    """One nest for each of the ``num_local`` replicas of this process, from one nest of distributed values."""
    leaves, tree = flatten_with_none(value)
    if not any(isinstance(leaf, DistributedValues) for leaf in leaves):
        if isinstance(value, keras.Variable) and num_local > 1:
            return value.values  # type: ignore[no-any-return]
        return (value,)
    # Uncommitted: what belongs to the strategy is on all devices, and `model(x)` needs both.
    columns = [
        tuple(map(uncommit, leaf.values)) if isinstance(leaf, DistributedValues) else (leaf,) * num_local
        for leaf in leaves
    ]
    return tuple(jax.tree.unflatten(tree, column) for column in zip(*columns, strict=True))


def _check_outside_replica(method: str, instead: str) -> None:
    if context.current_replica() is not None:
        raise RuntimeError(INSIDE_REPLICA.format(method=method, instead=instead))


def _reduce_leaf(placement: Placement, operation: ReduceOp, leaf: Any, axis: Any) -> Any:
    if isinstance(leaf, MergeCallValue):
        return _reduce_in_merge_call(operation, leaf, axis)
    if isinstance(leaf, keras.Variable):
        leaf = leaf.value
    if not isinstance(leaf, PerReplica):
        if placement.num_replicas > 1 and operation is ReduceOp.SUM and not _is_zero(leaf):
            raise ValueError(NOT_DISTRIBUTED.format(value=leaf))
        return leaf if axis is None else _reducer(operation, axis)(jnp.asarray(leaf))
    storage = as_program_input(leaf, placement)
    if isinstance(storage, Sharded):
        if storage.sum is not None and axis is None:
            return storage.sum if operation is ReduceOp.SUM else storage.sum / storage.num_replicas
        return _reduce_program(operation, axis, storage.is_scalar, placement)(storage.array)
    if axis is None and storage.is_batch:
        raise ValueError(UNLIKE_LENGTHS.format(lengths=storage.row_counts))
    # One replica has done the work of all: there is nothing to add to its value.
    return storage.value if axis is None else _reducer(operation, axis)(storage.value)


def _reduce_in_merge_call(operation: ReduceOp, leaf: MergeCallValue, axis: Any) -> Any:
    all_reduce = leaf.replica.sum if operation is ReduceOp.SUM else leaf.replica.mean
    return all_reduce(leaf.own if axis is None else _reducer(operation, axis)(leaf.own))


def _reducer(operation: ReduceOp, axis: Any) -> Callable[[Any], Any]:
    return functools.partial(jnp.sum if operation is ReduceOp.SUM else jnp.mean, axis=axis)


@functools.lru_cache(256)
def _reduce_program(operation: ReduceOp, axis: Any, is_scalar: bool, placement: Placement) -> Callable[[Any], Any]:
    def program(array: Any) -> Any:
        stacked = Sharded(array, is_scalar, placement).stacked
        axes = (axis,) if isinstance(axis, int) else tuple(axis or ())
        inner = tuple(each + 1 if each >= 0 else each for each in axes)
        if not placement.needs_combined_all_reduces:
            return _reducer(operation, (0, *inner))(stacked)
        own = _reducer(operation, inner)(stacked) if inner else stacked
        return apply_packed(own, _reducer(operation, 0), lead=1)

    return jax.jit(program, out_shardings=placement.replicated)


def _gather_leaf(placement: Placement, leaf: Any, axis: int) -> Any:
    if isinstance(leaf, MergeCallValue):
        return leaf.replica.gather(leaf.own, axis)
    if not isinstance(leaf, PerReplica):
        if placement.num_replicas > 1:
            return jnp.concatenate([jnp.asarray(leaf)] * placement.num_replicas, axis)
        return leaf
    storage = leaf.storage
    if isinstance(storage, Separate) and placement.spans_processes:
        return _as_result(_gather_from_processes(storage.values, axis), placement)
    values = storage.all_values if isinstance(storage, Unsplit) else storage.values
    _check_shapes([np.shape(value) for value in values], axis)
    if isinstance(storage, Unsplit) and storage.has_rows and axis == 0:
        return storage.value
    if isinstance(storage, Sharded):
        return _gather_program(axis, storage.num_replicas, placement)(storage.array)
    if any(isinstance(value, jax.core.Tracer) for value in values):
        return jnp.concatenate(values, axis)
    return _as_result(np.concatenate([np.asarray(value) for value in values], axis), placement)


def _gather_from_processes(values: Sequence[Any], axis: int) -> np.ndarray[Any, Any]:
    """Each process has the values of its own replicas, on the host or on its devices."""
    own = [np.asarray(value) for value in values]
    described = all_gather_json([(value.shape, value.dtype.name) for value in own])
    replicas = [replica for process in described for replica in process]
    _check_shapes([tuple(shape) for shape, _ in replicas], axis)
    rows = np.moveaxis(np.concatenate(own, axis), axis, 0)
    if rows.dtype.kind not in "OSU":
        rows = rows.astype(np.result_type(*(np.dtype(name) for _, name in replicas)), copy=False)
    counts = [sum(shape[axis] for shape, _ in process) for process in described]
    return np.moveaxis(gather_host_rows(rows, counts), 0, axis)


def _check_shapes(shapes: list[tuple[int, ...]], axis: int) -> None:
    if any(shape == () for shape in shapes):
        raise ValueError(NO_DIMENSION)
    if len({(len(shape), *shape[:axis], *shape[axis:][1:]) for shape in shapes}) > 1:
        raise ValueError(UNLIKE_SHAPES.format(shapes=shapes, axis=axis))


def _as_result(host: np.ndarray[Any, Any], placement: Placement) -> Any:
    """The array on every device; text stays on the host."""
    if is_host_only(host.dtype):
        return host
    with jax.ensure_compile_time_eval():  # values from outside may be gathered while a function is traced
        return placement.place_replicated(host)


@functools.lru_cache(64)
def _gather_program(axis: int, num_replicas: int, placement: Placement) -> Callable[[Any], Any]:
    return jax.jit(
        lambda array: jnp.concatenate(jnp.split(array, num_replicas), axis), out_shardings=placement.replicated
    )


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | float) and value == 0
