"""Variables in a part of a function that JAX traces separately: what it writes has to leave it with its results."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from unisono._src import keras_hooks
from unisono._src.replicas import context
from unisono._src.tracing.functions._capture import check_trace


class NestedScope(keras_hooks.StateScope):
    """The variables that one part reads and writes.

    Args:
        outer: the scope with the values that variables have around it.
        trace: the trace of the part.
        may_run_on_host: whether Python could run the part on the host instead: a user's `if` or `for`, but not a
            `cond`.

    Attributes:
        written: the variables that were written, by identity.
    """

    def __init__(self, outer: OuterScope, trace: Any, may_run_on_host: bool) -> None:
        super().__init__()
        self._outer, self._trace = outer, trace
        self._state: dict[int, Any] = {}
        self.written: dict[int, Any] = {}
        self.losses = outer.losses
        self.may_run_on_host = may_run_on_host

    def read(self, variable: Any) -> Any:
        return self._state[id(variable)] if id(variable) in self._state else self._outer.read(variable)

    def add_update(self, update: tuple[Any, Any]) -> None:
        variable, value = update
        self.write(variable, self.aggregate(variable, value))

    def add_delta(self, variable: Any, delta: Any) -> Any:
        value = self.read(variable) + self.aggregate(variable, jnp.broadcast_to(delta, variable.shape))
        self.write(variable, value)
        return value

    def aggregate(self, variable: Any, value: Any) -> Any:
        # In a merge_call values are aggregated ones; replicas get their values from it at its end.
        return value if context.merging_replica() is not None else self._outer.aggregate(variable, value)

    def write(self, variable: Any, value: Any) -> None:
        check_trace(self._trace, variable)
        self.written[id(variable)] = variable
        self._state[id(variable)] = value

    def variable_created(self, variable: Any) -> None:
        self._outer.variable_created(variable)

    def evaluate(self, value: Any, seeds: Sequence[tuple[Any, Any]] = ()) -> Any:
        own = [(variable, self._state[key]) for key, variable in self.written.items()]
        return self._outer.evaluate(value, [*own, *seeds])

    def leave_program(self, reason: str) -> None:
        self._outer.leave_program(reason)

    def data_pulled(self) -> None:
        self._outer.data_pulled()


class PlainScope:
    """The outer scope of a part where none of our scopes is active, as in a plain `jax.jit`: variables are read and
    written as Keras does there."""

    def __init__(self) -> None:
        self.losses: list[Any] = []
        self._read = keras_hooks.capture_reader()

    def get_current_value(self, variable: Any) -> Any:
        """The value. Reading it is reported to observers."""
        return keras_hooks.report_read(variable, self.read(variable))

    def read(self, variable: Any) -> Any:
        """The value."""
        return self._read(variable)

    def aggregate(self, variable: Any, value: Any) -> Any:
        """The value itself: there are no other replicas."""
        return value

    def write(self, variable: Any, value: Any) -> None:
        """Called after the part."""
        variable.assign(value)

    def variable_created(self, variable: Any) -> None:
        """Does nothing."""

    def evaluate(self, value: Any, seeds: Sequence[tuple[Any, Any]] = ()) -> Any:
        """Computes a traced value that only depends on constants."""
        return keras_hooks.evaluate_constant(value)

    def leave_program(self, reason: str) -> None:
        """Does nothing: a program of JAX has no other form."""

    def data_pulled(self) -> None:
        """Does nothing: the code that traces decides what is allowed."""


OuterScope = keras_hooks.StateScope | PlainScope


def divergent_branch() -> contextlib.AbstractContextManager[None]:
    """Around a part that runs, or runs once more, depending on values that may differ between replicas."""
    replica = context.current_replica()
    return contextlib.nullcontext() if replica is None else replica.divergent_branch()


def write_to_outer(outer: OuterScope, variable: Any, value: Any) -> None:
    """Stores what a part has written. In a merge_call the outer scope gives each replica its value."""
    if context.merging_replica() is not None and isinstance(outer, keras_hooks.StateScope):
        outer.add_update((variable, value))
    else:
        outer.write(variable, value)


def current_outer_scope() -> OuterScope:
    """The active scope."""
    return keras_hooks.current_state_scope() or PlainScope()
