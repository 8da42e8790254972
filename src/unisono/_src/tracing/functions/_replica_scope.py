"""The variables as one replica reads and writes them, inside a program over all replicas."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from unisono._src import keras_hooks
from unisono._src.replicas import context, values
from unisono._src.replicas.context import Replica
from unisono._src.tracing.functions._capture import CaptureScope, check_aggregation, check_trace
from unisono._src.tracing.functions._replica_shards import ReplicaShards, ShardedDim, sharded_dim

NOT_OWNED = """The variable {name!r} is assigned by the replicas of {strategy!r}, but was not made in its scope.
Make it inside `with strategy.scope():`."""

DATA_PULL = """A dataset was asked for its next element inside the function that `run` calls on each replica.
Take it before, and pass it as an argument:
    strategy.run(step, args=(next(iterator),))"""


class ReplicaScope(keras_hooks.StateScope):
    """Mirrored variables have one value for all replicas; on-read variables have a value for each.

    Args:
        replica: the replica.
        outer: the scope with the values that variables have across replicas.
        own_values: this replica's value of each on-read variable, by identity.
        trace: the trace of the program of one replica.
        shards: the variables that are sharded over the replicas.

    Attributes:
        used: the variables that were read or written, by identity.
        written: those that were written.
    """

    def __init__(
        self, replica: Replica, outer: CaptureScope, own_values: dict[int, Any], trace: Any, shards: ReplicaShards
    ) -> None:
        super().__init__()
        self._replica, self._outer, self._own_values, self._trace = replica, outer, own_values, trace
        self._shards = shards
        self._state: dict[int, Any] = {}
        self.used: dict[int, Any] = {}
        self.written: dict[int, Any] = {}

    def read(self, variable: Any) -> Any:
        own = self._own_value(variable)
        if context.merging_replica() is None or not keras_hooks.is_on_read(variable):
            return own
        return values.aggregate(self._replica.stack(own), variable.aggregation, variable.path)

    def _own_value(self, variable: Any) -> Any:
        key = id(variable)
        if self._shards.is_updating(variable):
            return self._shards.read_shard(variable)
        if key not in self._state:
            self.used[key] = variable
            # A variable that was made in this very trace has no value per replica yet; it is traced again with one.
            if key in self._own_values:
                self._state[key] = self._own_values[key]
            elif variable in self._shards:
                self._state[key] = self._shards.gather(variable, self._trace)
            else:
                self._state[key] = self._outer.read(variable)
        return self._state[key]

    def has_written_whole(self, variable: Any) -> bool:
        """Whether the whole value has been assigned, so that a shard from before is outdated."""
        return id(variable) in self.written

    def forget_whole(self, variable: Any) -> None:
        """The shard of ``variable`` is new: its whole value, if it is read again, has to be gathered again."""
        self._state.pop(id(variable), None)
        self.written.pop(id(variable), None)

    def sharded_updates(self, variables: Sequence[Any], own_variables: Sequence[Any]) -> dict[int, ShardedDim]:
        placement = self._replica.strategy.placement
        if not placement.shards_variables or context.merging_replica() is not None:
            return {}
        found: dict[int, ShardedDim] = {}
        for variable in variables:
            dim = sharded_dim(placement.update_layout(keras_hooks.variable_info(variable)), placement)
            if dim is not None:
                found[id(variable)] = dim
        for variable in own_variables:
            reference = keras_hooks.slot_reference(variable)
            if id(reference) in found and variable.shape == reference.shape:
                found[id(variable)] = found[id(reference)]
        return found

    def sum_and_scatter(self, gradient: Any, dim: ShardedDim) -> Any:
        self._replica.check_all_replicas_arrive()
        return dim.sum_and_scatter(gradient, self._replica.strategy.placement.row_axes)

    def updating_shards(
        self, variables: Sequence[Any], dims: dict[int, ShardedDim]
    ) -> contextlib.AbstractContextManager[None]:
        return self._shards.update(self, [(each, dims[id(each)]) for each in variables if id(each) in dims])

    def add_update(self, update: tuple[Any, Any]) -> None:
        variable, value = update
        self.write(variable, self.aggregate(variable, value))

    def add_delta(self, variable: Any, delta: Any) -> Any:
        value = self._own_value(variable) + self.aggregate(variable, jnp.broadcast_to(delta, variable.shape))
        self.write(variable, value)
        return self.read(variable)

    def variable_created(self, variable: Any) -> None:
        self._outer.variable_created(variable)

    def evaluate(self, value: Any, seeds: Sequence[tuple[Any, Any]] = ()) -> Any:
        own = [(variable, self._state[key]) for key, variable in self.written.items()]
        return self._outer.evaluate(value, [*own, *seeds])

    def data_pulled(self) -> None:
        raise RuntimeError(DATA_PULL)

    def write(self, variable: Any, value: Any) -> None:
        if self._shards.is_updating(variable):
            check_trace(self._trace, variable)
            self._shards.write_shard(variable, value)
            return
        self._own_value(variable)
        check_trace(self._trace, variable)
        self.written[id(variable)] = variable
        self._state[id(variable)] = value

    def aggregate(self, variable: Any, value: Any) -> Any:
        """The value that all replicas assign, from the value of each."""
        if context.merging_replica() is not None:
            return self._value_in_merge_call(variable, value)
        if keras_hooks.is_on_read(variable) or self._replica.assigns_same_values:
            return value
        if keras_hooks.get_owner(variable) is not self._replica.strategy:
            raise ValueError(NOT_OWNED.format(name=variable.path, strategy=self._replica.strategy))
        aggregation = variable.aggregation
        if aggregation == "none":
            check_aggregation(variable)
            # Moving statistics: the mean. Counters and other integers, which have no mean: the first replica's.
            aggregation = "mean" if jnp.issubdtype(value.dtype, jnp.inexact) else "only_first_replica"
        combine = {
            "sum": self._replica.sum,
            "mean": self._replica.mean,
            "only_first_replica": self._replica.take_from_first,
        }
        return combine[aggregation](value).astype(value.dtype)

    def _value_in_merge_call(self, variable: Any, value: Any) -> Any:
        """What is assigned in a `merge_call`, once for all replicas: of an on-read variable, this replica's value."""
        if not keras_hooks.is_on_read(variable) or variable.aggregation != "sum":
            return value
        return jnp.where(self._replica.index == 0, value, jnp.zeros_like(value))
