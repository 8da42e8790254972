"""The variables of a function while it is traced: each becomes an input of the program, and an output if written."""

from __future__ import annotations

from typing import Any

from unisono._src import jax_hooks, keras_hooks
from unisono._src.devices import Placement
from unisono._src.replicas import context, values
from unisono._src.tracing.functions._host_loop import HostLoop

ASSIGNED_INSIDE = """The variable {name!r} is assigned inside a part of the function that JAX traces by itself: the body
of a scan, a while loop, a vmap, a checkpoint or an inner jit. Its value there never leaves that part.
Return the value from the body and assign it outside; for a choice between two, keras.ops.cond takes assignments."""

NO_AGGREGATION = """The variable {name!r} is trained, every replica assigns it a value of its own, and it has no way to
make one of them. Make it with aggregation="sum", "mean" or "only_first_replica", or sum the value before:
    value = unisono.get_replica_context().all_reduce("SUM", value)"""


class CaptureScope(keras_hooks.StateScope):
    """Gives variables values that stand for what they will have when the program runs.

    Attributes:
        used: the variables that were read or written, by identity.
        written: those that were written, with the value that they have in the end.
        new: those that were made.
        placement: the devices of the replicas that ran, if any did.
    """

    def __init__(self, trace: Any) -> None:
        super().__init__()
        self._trace = trace
        self._state: dict[int, Any] = {}
        self._wholes: dict[int, Any] = {}
        self.used: dict[int, Any] = {}
        self.written: dict[int, Any] = {}
        self.new: list[Any] = []
        self.placement: Placement | None = None

    def raw(self, variable: Any) -> Any:
        """The value as it is stored: of a variable with parts, all of them."""
        key = id(variable)
        if key not in self._state:
            # In the outermost trace, so that it is known in all inner ones: those of a scan, a branch, a replica.
            self._state[key] = jax_hooks.make_placeholder(self._trace, key, keras_hooks.get_stored_value(variable))
        return self._state[key]

    def read(self, variable: Any) -> Any:
        self.used[id(variable)] = variable
        raw = self.raw(variable)
        if not keras_hooks.is_on_read(variable):
            return raw
        known = self.known_whole(variable)
        return values.aggregate(raw, variable.aggregation, variable.path) if known is None else known

    def known_whole(self, variable: Any) -> Any:
        """The whole of a variable with parts, where the program that wrote the parts has made it as well; else None."""
        return self._wholes.get(id(variable))

    def set_raw(self, variable: Any, raw: Any, whole: Any = None) -> None:
        """What :meth:`raw` gives from now on, and :meth:`known_whole`."""
        check_trace(self._trace, variable)
        key = id(variable)
        self.used[key] = self.written[key] = variable
        self._state[key], self._wholes[key] = raw, whole

    def add_update(self, update: tuple[Any, Any]) -> None:
        variable, value = update
        check_aggregation(variable)
        self.raw(variable)
        if keras_hooks.is_on_read(variable):
            value = values.spread(value, variable.aggregation, keras_hooks.num_replica_values(variable))
        self.set_raw(variable, value)

    def variable_created(self, variable: Any) -> None:
        self.new.append(variable)

    def data_pulled(self) -> None:
        raise HostLoop


def check_aggregation(variable: Any) -> None:
    """Raises if replicas assign to a variable that does not say what to do with several values.

    Also where one replica runs for all, because a batch does not divide: what fails must not fail now and then.
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
    """Raises unless operations belong to the trace in which values of variables live."""
    if jax_hooks.trace_below_tapes(jax_hooks.current_trace()) is not expected:
        raise RuntimeError(ASSIGNED_INSIDE.format(name=variable.path))
