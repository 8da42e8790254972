"""The variables as one replica sees them, inside a program over all of them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from unisono._src import keras_hooks
from unisono._src.replicas import context, values
from unisono._src.replicas.context import Replica
from unisono._src.tracing.functions._capture import CaptureScope, check_aggregation, check_trace

NOT_OWNED = """The variable {name!r} is assigned by the replicas of {strategy!r}, but was not made in its scope.
Make it inside `with strategy.scope():`."""

PULLED = """A dataset was asked for its next element inside the function that `run` calls on each replica.
Take it before, and pass it on:
    strategy.run(step, args=(next(iterator),))"""


class ReplicaScope(keras_hooks.StateScope):
    """Mirrored variables have one value for all replicas, and are written with one; others have a part for each.

    Args:
        replica: which of them, and how it speaks with the others.
        outer: the values that variables have across replicas.
        parts: this replica's part of each variable that has parts, by identity.
        trace: the trace of the program of one replica.

    Attributes:
        used: the variables that were read or written, by identity.
        written: those that were written.
    """

    def __init__(self, replica: Replica, outer: CaptureScope, parts: dict[int, Any], trace: Any) -> None:
        super().__init__()
        self._replica, self._outer, self._parts, self._trace = replica, outer, parts, trace
        self._state: dict[int, Any] = {}
        self.used: dict[int, Any] = {}
        self.written: dict[int, Any] = {}

    def read(self, variable: Any) -> Any:
        own = self._own(variable)
        if context.merging_replica() is None or not keras_hooks.is_on_read(variable):
            return own
        return values.aggregate(self._replica.stack(own), variable.aggregation, variable.path)

    def _own(self, variable: Any) -> Any:
        key = id(variable)
        if key not in self._state:
            self.used[key] = variable
            # A variable that was made in this very trace has no part yet; it is traced again with one.
            self._state[key] = self._parts[key] if key in self._parts else self._outer.read(variable)
        return self._state[key]

    def add_update(self, update: tuple[Any, Any]) -> None:
        variable, value = update
        self.write(variable, self.aggregate(variable, value))

    def add_delta(self, variable: Any, delta: Any) -> Any:
        value = self._own(variable) + self.aggregate(variable, jnp.broadcast_to(delta, variable.shape))
        self.write(variable, value)
        return self.read(variable)

    def variable_created(self, variable: Any) -> None:
        self._outer.variable_created(variable)

    def data_pulled(self) -> None:
        raise RuntimeError(PULLED)

    def write(self, variable: Any, value: Any) -> None:
        self._own(variable)
        check_trace(self._trace, variable)
        self.written[id(variable)] = variable
        self._state[id(variable)] = value

    def aggregate(self, variable: Any, value: Any) -> Any:
        """What all replicas assign, out of what each one wants to."""
        if context.merging_replica() is not None:
            return self._of_merged(variable, value)
        if keras_hooks.is_on_read(variable) or self._replica.assigns_same_values:
            return value
        if keras_hooks.get_owner(variable) is not self._replica.strategy:
            raise ValueError(NOT_OWNED.format(name=variable.path, strategy=self._replica.strategy))
        aggregation = variable.aggregation
        if aggregation == "none":
            check_aggregation(variable)
            # Moving statistics: the mean. Counters and the like, of which there is no mean: the first one's.
            aggregation = "mean" if jnp.issubdtype(value.dtype, jnp.inexact) else "only_first_replica"
        of_all = {
            "sum": self._replica.sum,
            "mean": self._replica.mean,
            "only_first_replica": self._replica.take_from_first,
        }
        return of_all[aggregation](value).astype(value.dtype)

    def _of_merged(self, variable: Any, value: Any) -> Any:
        """What is assigned in a `merge_call`, once for all: of a variable with parts, this replica's."""
        if not keras_hooks.is_on_read(variable) or variable.aggregation != "sum":
            return value
        return jnp.where(self._replica.index == 0, value, jnp.zeros_like(value))
