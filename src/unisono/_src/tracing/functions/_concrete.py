"""One program: a function traced for arguments of one signature, and the variables that it reads and writes."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

import jax
import jax.numpy as jnp

from unisono._src import jax_hooks, keras_hooks
from unisono._src.devices import InFlightCalls, Placement
from unisono._src.processes import report_progress
from unisono._src.replicas import context, values
from unisono._src.tracing import tape
from unisono._src.tracing.functions._arguments import Arguments
from unisono._src.tracing.functions._capture import CaptureScope
from unisono._src.tracing.functions._errors import explain_errors
from unisono._src.tracing.functions._results import Results
from unisono._src.tracing.functions._stored_values import replace_stored_values

CREATED_EVERY_TIME = """The function makes variables whenever it is called: {names}.
A program is compiled once, so its variables have to be made once: before the function, or on its first call only, as in
    if self.counter is None:
        self.counter = keras.Variable(0)"""

SEVERAL_PLACEMENTS = """The function uses variables or values of strategies on different devices:
    {one}
    {other}
One program runs on one set of devices. Call a function for each strategy."""

# More launches with collectives than these in flight can deadlock XLA:CPU.
_MAX_IN_FLIGHT: Final = 8

_in_flight = InFlightCalls()

_creates_every_time = ContextVar("creates_every_time", default=False)

# From reading variables to storing their new values: a call in another thread would read arrays that were donated, or
# its assignment would be lost. Calls are only launched meanwhile, which takes microseconds, but for the first one under
# a tape, which is compiled. Programs that call Python run without the lock, since they may wait for other functions: if
# several threads call them at the same time, assignments to the same variable may be lost.
_variables_lock = threading.RLock()

_Take = Callable[[Any], Any]
"""Gives the array of a variable, as it is called with."""


class ConcreteFunction:
    """Traces ``function`` for ``arguments`` when it is made; compiles when it is called first."""

    def __init__(self, function: Callable[..., Any], arguments: Arguments) -> None:
        traced = trace_function(function, arguments)
        scope = traced.scope
        self._written = list(scope.written.values())
        self._read = [variable for key, variable in scope.used.items() if key not in scope.written]
        self._placement = _find_placement(self._written + self._read, arguments.placement or scope.placement)
        # Variables that were created outside every scope may be on the devices of another program.
        self._unowned_written, self._unowned_read = _unowned(self._written), _unowned(self._read)
        # Over several processes, the aggregated value of an on-read variable is computed with every step: code that
        # reads it later, on the chief alone for example, could not compute it without the other processes.
        spans_processes = self._placement is not None and self._placement.spans_processes
        self._aggregated = [
            (index, variable)
            for index, variable in enumerate(self._written)
            if spans_processes and keras_hooks.is_on_read(variable) and variable.aggregation != "none"
        ]
        self._constants = traced.jaxpr.consts
        self._results = traced.results.without_arrays()
        self._is_throttled = _needs_throttle(self._placement)
        self._calls = 0
        # A check or another function of Python that raises must leave variables their values. And such a program may
        # wait for a callback, which may call other functions in its thread: it runs without the lock.
        self._calls_host = jax_hooks.calls_host(traced.jaxpr.jaxpr)
        self._is_compiled = False
        self._jitted = self._jit(traced, donate=not self._calls_host)
        self._in_tapes = functools.cache(lambda: self._jit(traced, donate=False, is_part=True))

    @property
    def variables(self) -> list[Any]:
        """All variables that it reads or writes."""
        return self._written + self._read

    def __call__(self, arrays: list[Any]) -> Any:
        """Launches the program and returns before it has finished; variables have their new values."""
        if tape.is_any_tape_recording():
            report_read = keras_hooks.report_stored_read
            return self._run(self._in_tapes(), arrays, take_written=report_read, take_read=report_read)
        if not self._is_compiled:
            self._lower(arrays).compile()  # without the lock; the call finds the program in JAX's cache
            self._is_compiled = True
        return self._run(self._jitted, arrays)

    def call_once(self, arrays: list[Any]) -> Any:
        """The same for a program that is traced to run once: compiled only if no equal one was compiled before.

        Arrays that the function refers to are arguments, not constants: with another batch it is the same program.
        """
        arrays = [*arrays, *self._constants]
        lowered = self._lower(arrays)
        if self._calls_host:  # its text does not say which functions of Python it calls
            return self._run(lowered.compile(), arrays)
        devices = () if self._placement is None else tuple(self._placement.devices)
        return self._run(_get_compiled(lowered, devices), arrays)

    def _lower(self, arrays: list[Any]) -> Any:
        with _variables_lock:
            operands = self._operands(arrays, keras_hooks.get_stored_value, keras_hooks.get_stored_value)
        return self._jitted.lower(*operands)

    def _operands(self, arrays: list[Any], take_written: _Take, take_read: _Take) -> tuple[list[Any], ...]:
        written, read = [take_written(each) for each in self._written], [take_read(each) for each in self._read]
        if self._placement is not None:
            arrays = [self._move(array, self._placement.replicated) for array in arrays]
            for states, indices in ((written, self._unowned_written), (read, self._unowned_read)):
                for index in indices:
                    states[index] = self._move(states[index], self._placement.layout(states[index]))
        return written, read, arrays

    def _run(
        self,
        program: Callable[..., Any],
        arrays: list[Any],
        take_written: _Take | None = None,
        take_read: _Take = keras_hooks.get_stored_value,
    ) -> Any:
        if take_written is None:
            take_written = keras_hooks.get_stored_value if self._calls_host else _take_for_donation
        self._calls += 1
        report_progress("custom loop", self._calls)
        with _variables_lock:
            operands = self._operands(arrays, take_written, take_read)
            launched = None if self._calls_host else self._launch(program, operands)
        results, done = self._launch(program, operands) if launched is None else launched
        if self._is_throttled:
            _in_flight.add(done, 1, _MAX_IN_FLIGHT)
        return self._results.unflatten(results)

    def _launch(self, program: Callable[..., Any], operands: tuple[list[Any], ...]) -> tuple[Any, Any]:
        results, states, aggregated, done = program(*operands)
        if self._calls_host:
            jax.block_until_ready(done)  # else variables get values that failed
        for variable, state in zip(self._written, states, strict=True):
            keras_hooks.set_stored_value(variable, state)
        for (_, variable), value in zip(self._aggregated, aggregated, strict=True):
            keras_hooks.set_aggregated_value(variable, value)
        return results, done

    def _move(self, operand: Any, layout: jax.sharding.Sharding) -> Any:
        """An array that is on other devices is sent to those of the program."""
        assert self._placement is not None
        if not isinstance(operand, jax.Array) or operand.sharding.device_set == layout.device_set:
            return operand
        if self._placement.spans_processes:
            return self._placement.place_replicated(operand)
        # JAX itself moves an array that is committed to no device, but as a whole copy to each of them.
        is_moved_by_jax = not operand.committed and layout.is_fully_replicated
        return operand if is_moved_by_jax else jax.device_put(operand, layout)

    def _jit(self, traced: FunctionTrace, *, donate: bool, is_part: bool = False) -> Any:
        keys = [id(variable) for variable in self._written + self._read]
        jaxpr, num_results, num_arguments = traced.jaxpr, len(self._results.arrays), len(traced.jaxpr.in_avals)

        def program(written: list[Any], read: list[Any], arrays: list[Any]) -> Any:
            known = dict(zip(keys, written + read, strict=True))
            # A placeholder of a variable that is not used has no value; nothing computed from it is used either.
            flat = jax_hooks.substitute(
                jaxpr,
                lambda key, like: known[key] if key in known else jnp.zeros(like.shape, like.dtype),
                arrays[:num_arguments],
                arrays[num_arguments:],
            )
            remaining = iter(flat)
            results = [next(remaining) for _ in range(num_results)]
            states = [next(remaining) for _ in written]
            known_aggregates = dict(zip(traced.known_aggregates, remaining, strict=True))
            aggregated = _aggregate_all(
                [(states[index], variable) for index, variable in self._aggregated], known_aggregates
            )
            # States are donated to the next call, so that they cannot be waited for. The last result can.
            return results, states, aggregated, jnp.zeros((), "int32")

        layouts = None
        if self._placement is not None:
            states = [
                self._placement.sharded_rows
                if keras_hooks.is_on_read(variable)
                else self._placement.layout(keras_hooks.get_stored_value(variable))
                for variable in self._written
            ]
            replicated = self._placement.replicated
            results_layouts = traced.results.layouts(self._placement)
            layouts = (results_layouts, states, [replicated] * len(self._aggregated), replicated)
        # Under a tape it is part of another program, which cannot have compiler options.
        options = None
        if not is_part and self._placement is not None:
            options = jax_hooks.keep_recomputation(self._placement.compiler_options, jaxpr, self._placement.platform)
        # Unused arguments are kept: without them, equal texts could be programs that use different ones.
        return jax.jit(
            program,
            donate_argnums=(0,) if donate else (),
            keep_unused=True,
            out_shardings=layouts,
            compiler_options=options or None,
        )


class FunctionTrace:
    """A trace: the jaxpr of the program, what it returns, and which variables it uses.

    The program returns the results, the variables that it writes, and the aggregated values that it has computed of
    on-read variables.
    """

    def __init__(self, function: Callable[..., Any], arguments: Arguments, *, may_create: bool = False) -> None:
        self.scope: CaptureScope
        self.results: Results
        self.created: list[Any] = []
        """The variables that were made meanwhile."""
        self.used_seeds: dict[int, tuple[Any, Any]] = {}
        """The generators from which their initial values were drawn, with their states after that."""
        self.known_aggregates: list[int]
        """The variables whose aggregated value it returns, by identity."""

        def traced(arrays: list[Any]) -> Any:
            args, kwargs = arguments.unflatten(arrays)
            known = dict(zip(map(jax_hooks.argument_variable, arrays), arguments.arrays, strict=True))
            with CaptureScope(jax_hooks.current_trace(), known) as scope:
                self.created, self.used_seeds = scope.created, scope.used_seeds
                results = Results.flatten(function(*args, **kwargs))
            known = {key: scope.known_aggregate(variable) for key, variable in scope.written.items()}
            known = {key: value for key, value in known.items() if value is not None}
            self.scope, self.results, self.known_aggregates = scope, results, list(known)
            states = [scope.stored_value(variable) for variable in scope.written.values()]
            return results.arrays, states, list(known.values())

        strategy = context.current_strategy()
        placement = arguments.placement or (None if strategy is None else strategy.placement)
        lowered = contextlib.nullcontext() if placement is None else keras_hooks.use_lowerings(placement.platform)
        with lowered, explain_errors(function):
            try:
                self.jaxpr = jax.make_jaxpr(traced)(arguments.arrays)
            except (TypeError, ValueError):
                # A branch or a loop in which a layer was made differs from the other branch, which has none. Traced
                # again, both have it.
                if may_create and self.created:
                    return
                raise
            for constant in self.jaxpr.consts:
                if isinstance(constant, jax.core.Tracer):
                    jnp.positive(constant)  # leaked from a trace that has ended: makes JAX raise its explanation
        self.scope.forget_arguments()
        if jax_hooks.is_evaluating():
            replace_stored_values(function)


def creates_every_time() -> bool:
    """Whether a function is traced that makes variables whenever it is called, though a program has the same ones.

    What is made in it for one call, such as a generator of random numbers, needs no variable for its state.
    """
    return _creates_every_time.get()


def trace_function(function: Callable[..., Any], arguments: Arguments) -> FunctionTrace:
    """Traces ``function`` as it will be every time: a first call may make variables."""
    traced = FunctionTrace(function, arguments, may_create=True)
    if traced.created:
        # The first call made its variables: those of layers, an optimizer's slots. Now they exist.
        for variable, state in traced.used_seeds.values():
            keras_hooks.set_stored_value(variable, state)
        traced = FunctionTrace(function, arguments)
        if traced.created:
            token = _creates_every_time.set(True)
            try:
                traced = FunctionTrace(function, arguments)
            finally:
                _creates_every_time.reset(token)
        if traced.created:
            names = ", ".join(variable.path for variable in traced.created)
            raise ValueError(CREATED_EVERY_TIME.format(names=names))
    return traced


def _find_placement(variables: list[Any], arguments_placement: Placement | None) -> Placement | None:
    found = arguments_placement
    for variable in variables:
        owner = keras_hooks.get_owner(variable)
        if owner is None:
            continue
        if found is not None and found.devices != owner.placement.devices:
            raise ValueError(SEVERAL_PLACEMENTS.format(one=found.mesh.devices, other=owner))
        found = owner.placement
    return found


def _aggregate_all(on_read: list[tuple[Any, Any]], known: dict[int, Any]) -> list[Any]:
    """The aggregated values of on-read variables, given as per-replica values and variable; those in ``known`` are not
    computed again. Most are sums, which are computed together."""

    def needs_sum(variable: Any) -> bool:
        return variable.aggregation == "sum" and id(variable) not in known

    # In a list: all processes have to put them into the vector in the same order, and identities differ.
    addends = [per_replica for per_replica, variable in on_read if needs_sum(variable)]
    sums = iter(values.apply_packed(addends, lambda vector: jnp.sum(vector, 0, dtype=vector.dtype), lead=1))

    def aggregate(per_replica: Any, variable: Any) -> Any:
        if id(variable) in known:
            return known[id(variable)]
        if needs_sum(variable):
            return next(sums)
        return values.aggregate(per_replica, variable.aggregation, variable.path)

    return [aggregate(*each) for each in on_read]


def _unowned(variables: list[Any]) -> list[int]:
    return [index for index, variable in enumerate(variables) if keras_hooks.get_owner(variable) is None]


def _needs_throttle(placement: Placement | None) -> bool:
    return placement is not None and placement.platform == "cpu" and placement.num_replicas > 1


def _take_for_donation(variable: Any) -> Any:
    """The variable's array, to be donated; a copy if it is also referenced elsewhere, where it would be deleted."""
    stored, num_references = _count_references(variable)
    return jnp.array(stored, copy=True) if num_references > _OWN_REFERENCES else stored


def _count_references(variable: Any) -> tuple[Any, int]:
    """The variable's array, and how many references there are to it."""
    stored = keras_hooks.get_stored_value(variable)
    return stored, sys.getrefcount(stored)


class _Unshared:
    """A variable whose value nothing else holds."""

    def __init__(self) -> None:
        self._value = object()


# Measured, not written down: what an interpreter counts for locals and arguments differs between versions.
_OWN_REFERENCES: Final = _count_references(_Unshared())[1]


_compiled: dict[Any, Any] = {}
_MAX_COMPILED: Final = 128


def _get_compiled(lowered: Any, devices: tuple[Any, ...]) -> Any:
    """The text of a program is all of it but its devices and which of its arguments and results are variables."""
    key = (hashlib.sha256(lowered.as_text().encode()).digest(), devices, lowered.in_tree, lowered.out_tree)
    compiled = _compiled.get(key)
    if compiled is None:
        if len(_compiled) >= _MAX_COMPILED:
            _compiled.pop(next(iter(_compiled)), None)  # another thread may have done so
        compiled = _compiled[key] = lowered.compile()
    return compiled
