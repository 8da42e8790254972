"""The variables of a function while it is traced: each becomes an input of the program, and an output if written."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from unisono._src import jax_hooks, keras_hooks
from unisono._src.devices import Placement
from unisono._src.replicas import context, values
from unisono._src.tracing.functions._host_loop import HostLoopNeeded

ASSIGNED_INSIDE = """The variable {name!r} is assigned inside a part of the function that JAX traces by itself: the body
of a scan, a while loop, a vmap, a checkpoint or an inner jit. Its value there never leaves that part.
Return the value from the body and assign it outside; for a choice between two, keras.ops.cond takes assignments."""

NO_AGGREGATION = """The variable {name!r} is trainable, every replica assigns it a different value, and it has no
aggregation to combine them. Make it with aggregation="sum", "mean" or "only_first_replica", or sum the value before:
    value = unisono.get_replica_context().all_reduce("SUM", value)"""


class CaptureScope(keras_hooks.StateScope):
    """Gives variables placeholders for the values that they will have when the program runs.

    Args:
        trace: the trace of the function.
        arguments: the arrays of the call that it is traced for, by `jax_hooks.argument_variable`.

    Attributes:
        used: the variables that were read or written, by identity.
        written: those that were written.
        created: those that were made.
        placement: the devices of the replicas that ran, if any did.
        used_seeds: the generators from which initial values of variables may have been drawn, with their states after
            that, by identity. The program must not draw these numbers again.
    """

    def __init__(self, trace: Any, arguments: dict[Any, Any] | None = None) -> None:
        super().__init__()
        self._trace = trace
        self._arguments = arguments or {}
        self._variables: dict[int, Any] = {}
        self.used_seeds: dict[int, tuple[Any, Any]] = {}
        self._state: dict[int, Any] = {}
        self._known_aggregates: dict[int, Any] = {}
        self.used: dict[int, Any] = {}
        self.written: dict[int, Any] = {}
        self.created: list[Any] = []
        self.placement: Placement | None = None

    def forget_arguments(self) -> None:
        """Called when the trace has ended: what it keeps must not keep the arrays of the first call."""
        self._arguments = {}

    def stored_value(self, variable: Any) -> Any:
        """The value as it is stored: of an on-read variable the values of all replicas."""
        key = id(variable)
        if key not in self._state:
            self._variables[key] = variable
            # In the outermost trace, so that it is known in all inner ones: those of a scan, a branch, a replica.
            self._state[key] = jax_hooks.make_placeholder(self._trace, key, keras_hooks.get_stored_value(variable))
        return self._state[key]

    def read(self, variable: Any) -> Any:
        self.used[id(variable)] = variable
        stored = self.stored_value(variable)
        if not keras_hooks.is_on_read(variable):
            return stored
        known = self.known_aggregate(variable)
        return values.aggregate(stored, variable.aggregation, variable.path) if known is None else known

    def known_aggregate(self, variable: Any) -> Any:
        """The aggregated value of an on-read variable, if the program that wrote it has computed it; else None."""
        return self._known_aggregates.get(id(variable))

    def set_stored_value(self, variable: Any, stored: Any, aggregated: Any = None) -> None:
        """Sets what :meth:`stored_value` and :meth:`known_aggregate` return from now on."""
        check_trace(self._trace, variable)
        key = id(variable)
        self.used[key] = self.written[key] = variable
        self._state[key], self._known_aggregates[key] = stored, aggregated

    def add_update(self, update: tuple[Any, Any]) -> None:
        variable, value = update
        check_aggregation(variable)
        self.stored_value(variable)
        if keras_hooks.is_on_read(variable):
            value = values.spread(value, variable.aggregation, keras_hooks.num_replica_values(variable))
        self.set_stored_value(variable, value)

    def variable_created(self, variable: Any) -> None:
        self.created.append(variable)

    def evaluate(self, value: Any, seeds: Sequence[tuple[Any, Any]] = ()) -> Any:
        """As in :class:`StateScope`. ``seeds`` are the states of generators in a scope inside this one."""
        own = [(variable, self._state[id(variable)]) for variable in self.written.values()]
        with keras_hooks.outside_traces():
            for variable, state in [*own, *seeds]:
                if keras_hooks.is_seed_state(variable):
                    with contextlib.suppress(jax_hooks.NotEvaluableError):
                        self.used_seeds[id(variable)] = (variable, self._compute(state))
            return self._compute(value)

    def _compute(self, value: Any) -> Any:
        return jax_hooks.evaluate_traced(
            value, self._arguments, lambda key: keras_hooks.get_stored_value(self._variables[key])
        )

    def leave_program(self, reason: str) -> None:
        raise HostLoopNeeded(reason)

    def data_pulled(self) -> None:
        raise HostLoopNeeded


def check_aggregation(variable: Any) -> None:
    """Raises if replicas assign to a variable that has no aggregation for several values.

    Also where one replica runs for all, because a batch does not divide: an error must not depend on the batch.
    """
    replica = context.current_replica()
    if (
        replica is not None
        and replica.strategy.placement.num_replicas > 1
        and not replica.is_updating
        and variable.trainable
        and variable.aggregation == "none"
        and not keras_hooks.is_on_read(variable)
    ):
        raise ValueError(NO_AGGREGATION.format(name=variable.path))


def check_trace(expected: Any, variable: Any) -> None:
    """Raises unless operations are recorded in the trace to which the values of variables belong."""
    if jax_hooks.trace_below_tapes(jax_hooks.current_trace()) is not expected:
        raise RuntimeError(ASSIGNED_INSIDE.format(name=variable.path))
