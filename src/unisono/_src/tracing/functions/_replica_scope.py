"""The variables as one replica reads and writes them, inside a program over all replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from unisono._src import keras_hooks
from unisono._src.replicas import context, values
from unisono._src.replicas.context import Replica
from unisono._src.tracing.functions._capture import CaptureScope, check_aggregation, check_trace

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

    Attributes:
        used: the variables that were read or written, by identity.
        written: those that were written.
    """

    def __init__(self, replica: Replica, outer: CaptureScope, own_values: dict[int, Any], trace: Any) -> None:
        super().__init__()
        self._replica, self._outer, self._own_values, self._trace = replica, outer, own_values, trace
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
        if key not in self._state:
            self.used[key] = variable
            # A variable that was made in this very trace has no value per replica yet; it is traced again with one.
            self._state[key] = self._own_values[key] if key in self._own_values else self._outer.read(variable)
        return self._state[key]

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
