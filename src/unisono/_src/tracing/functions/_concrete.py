"""One program: a function traced for arguments of one kind, and the variables that it reads and writes."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sys
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp

from unisono._src import jax_hooks, keras_hooks
from unisono._src.devices import LaunchQueue, Placement
from unisono._src.processes import report_progress
from unisono._src.replicas import context, values
from unisono._src.tracing import tape
from unisono._src.tracing.functions._arguments import Arguments
from unisono._src.tracing.functions._capture import CaptureScope
from unisono._src.tracing.functions._errors import explained
from unisono._src.tracing.functions._results import Results

NEW_EVERY_TIME = """The function makes variables whenever it is called: {names}.
A program is compiled once, so its variables have to be made once: before the function, or on its first call only, as in
    if self.counter is None:
        self.counter = keras.Variable(0)"""

SEVERAL_PLACES = """The function uses variables or values of strategies on different devices:
    {one}
    {other}
One program runs on one set of devices. Call a function for each strategy."""

# References to a variable's array when nobody but the variable has it: the variable's, ours, and getrefcount's own.
_OWN_REFERENCES: Final = 3
# More launches with collectives than these in flight can wedge XLA:CPU.
_IN_FLIGHT: Final = 8

_launches = LaunchQueue()


class ConcreteFunction:
    """Traces ``function`` for ``arguments`` when it is made; compiles when it is called first."""

    def __init__(self, function: Callable[..., Any], arguments: Arguments) -> None:
        traced = _Traced(function, arguments)
        if traced.scope.new:
            # The first time, it made its variables: layers that were called first, an optimizer's slots. Now they are
            # there, and the program is traced as it will be every time.
            traced = _Traced(function, arguments)
            if traced.scope.new:
                names = ", ".join(variable.path for variable in traced.scope.new)
                raise ValueError(NEW_EVERY_TIME.format(names=names))
        scope = traced.scope
        self._written = list(scope.written.values())
        self._read = [variable for key, variable in scope.used.items() if key not in scope.written]
        self._placement = _placement_of(self._written + self._read, arguments.placement or scope.placement)
        # Variables that were made outside of every scope may have been left on the devices of another program.
        self._strangers_written, self._strangers_read = _strangers(self._written), _strangers(self._read)
        # Over several processes, the whole of a variable with parts is made with every step: whoever reads it later,
        # the chief alone say, could not make it without the others.
        together = self._placement is not None and self._placement.spans_processes
        self._wholes = [
            (index, variable)
            for index, variable in enumerate(self._written)
            if together and keras_hooks.is_on_read(variable) and variable.aggregation != "none"
        ]
        self._results = traced.results.forget_arrays()
        self._throttled = _needs_throttle(self._placement)
        self._calls = 0
        self._jitted = self._jit(traced, donate=True)
        self._without_donation = functools.cache(lambda: self._jit(traced, donate=False))

    @property
    def variables(self) -> list[Any]:
        """All that it reads or writes."""
        return self._written + self._read

    def __call__(self, arrays: list[Any]) -> Any:
        """Runs the program, which returns before it has ended; variables have their new values."""
        if tape.is_any_tape_recording():
            keras_hooks.report_reads(self.variables)
            return self._run(
                self._without_donation(), [keras_hooks.get_stored_value(variable) for variable in self._written], arrays
            )
        return self._run(self._jitted, [_donated(variable) for variable in self._written], arrays)

    def call_once(self, arrays: list[Any]) -> Any:
        """The same for a program that is traced to run once: compiled only if none like it was compiled before."""

        def program(*operands: Any) -> Any:
            lowered = self._jitted.lower(*operands)
            devices = () if self._placement is None else tuple(self._placement.devices)
            return _compiled_before(lowered, devices)(*operands)

        return self._run(program, [_donated(variable) for variable in self._written], arrays)

    def _run(self, program: Callable[..., Any], written: list[Any], arrays: list[Any]) -> Any:
        read = [keras_hooks.get_stored_value(variable) for variable in self._read]
        if self._placement is not None:
            arrays = [self._move(array, self._placement.replicated) for array in arrays]
            for states, indices in ((written, self._strangers_written), (read, self._strangers_read)):
                for index in indices:
                    states[index] = self._move(states[index], self._placement.layout(states[index]))
        self._calls += 1
        report_progress("custom loop", self._calls)
        results, states, wholes, done = program(written, read, arrays)
        for variable, state in zip(self._written, states, strict=True):
            keras_hooks.set_stored_value(variable, state)
        for (_, variable), whole in zip(self._wholes, wholes, strict=True):
            keras_hooks.set_aggregated_value(variable, whole)
        if self._throttled:
            _launches.add(done, 1, _IN_FLIGHT)
        return self._results.with_arrays(results)

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

    def _jit(self, traced: _Traced, *, donate: bool) -> Any:
        keys = [id(variable) for variable in self._written + self._read]
        jaxpr, num_results = traced.jaxpr, len(self._results.arrays)

        def program(written: list[Any], read: list[Any], arrays: list[Any]) -> Any:
            known = dict(zip(keys, written + read, strict=True))
            # A variable that is there but not used has no value here; what is made of it is not used either.
            flat = jax_hooks.substitute(
                jaxpr, lambda key, like: known[key] if key in known else jnp.zeros(like.shape, like.dtype), arrays
            )
            following = iter(flat)
            results = [next(following) for _ in range(num_results)]
            states = [next(following) for _ in written]
            known_wholes = dict(zip(traced.known_wholes, following, strict=True))
            wholes = _wholes([(states[index], variable) for index, variable in self._wholes], known_wholes)
            # States are donated to the next call, so nobody can wait for them. This is what can be waited for.
            return results, states, wholes, jnp.zeros((), "int32")

        layouts = None
        if self._placement is not None:
            states = [
                self._placement.sharded_rows if keras_hooks.is_on_read(variable) else self._placement.layout(variable)
                for variable in self._written
            ]
            everywhere = self._placement.replicated
            layouts = (traced.results.layouts(self._placement), states, [everywhere] * len(self._wholes), everywhere)
        # Under a tape it is a part of another program, which JAX gives no options of its own.
        options = self._placement.compiler_options or None if donate and self._placement is not None else None
        return jax.jit(program, donate_argnums=(0,) if donate else (), out_shardings=layouts, compiler_options=options)


class _Traced:
    """A trace: the program as JAX has it, what it returns, and which variables it met.

    The program returns the results, the variables that it writes, and the wholes that it knows of those with parts.
    """

    def __init__(self, function: Callable[..., Any], arguments: Arguments) -> None:
        self.scope: CaptureScope
        self.results: Results
        self.known_wholes: list[int]
        """Of which variables, by identity."""

        def traced(arrays: list[Any]) -> Any:
            args, kwargs = arguments.with_arrays(arrays)
            with CaptureScope(jax_hooks.current_trace()) as scope:
                results = Results.of(function(*args, **kwargs))
            known = {key: scope.known_whole(variable) for key, variable in scope.written.items()}
            known = {key: whole for key, whole in known.items() if whole is not None}
            self.scope, self.results, self.known_wholes = scope, results, list(known)
            return results.arrays, [scope.raw(variable) for variable in scope.written.values()], list(known.values())

        strategy = context.current_strategy()
        placement = arguments.placement or (None if strategy is None else strategy.placement)
        lowered = (
            contextlib.nullcontext()
            if placement is None
            else keras_hooks.use_cpu_lowerings(placement, stock_step=False)
        )
        with lowered, explained(function):
            self.jaxpr = jax.make_jaxpr(traced)(arguments.arrays)
            for constant in self.jaxpr.consts:
                if isinstance(constant, jax.core.Tracer):
                    jnp.positive(constant)  # left over from a trace that has ended: JAX says whence it came


def _placement_of(variables: list[Any], of_arguments: Placement | None) -> Placement | None:
    found = of_arguments
    for variable in variables:
        owner = keras_hooks.get_owner(variable)
        if owner is None:
            continue
        if found is not None and found.devices != owner.placement.devices:
            raise ValueError(SEVERAL_PLACES.format(one=found.mesh.devices, other=owner))
        found = owner.placement
    return found


def _wholes(parted: list[tuple[Any, Any]], known: dict[int, Any]) -> list[Any]:
    """The wholes of variables with parts, but for those that are ``known``. Most are sums, which are made together."""

    def is_to_be_summed(variable: Any) -> bool:
        return variable.aggregation == "sum" and id(variable) not in known

    # In a list: all processes have to put them into the vector in the same order, and identities differ.
    sums = [parts for parts, variable in parted if is_to_be_summed(variable)]
    summed = iter(values.apply_packed(sums, lambda parts: jnp.sum(parts, 0, dtype=parts.dtype), lead=1))
    return [
        known[id(variable)]
        if id(variable) in known
        else next(summed)
        if is_to_be_summed(variable)
        else values.aggregate(parts, variable.aggregation, variable.path)
        for parts, variable in parted
    ]


def _strangers(variables: list[Any]) -> list[int]:
    return [index for index, variable in enumerate(variables) if keras_hooks.get_owner(variable) is None]


def _needs_throttle(placement: Placement | None) -> bool:
    return placement is not None and placement.platform == "cpu" and placement.num_replicas > 1


def _donated(variable: Any) -> Any:
    """The variable's array to be used up; a copy if somebody else holds it, who would find it deleted."""
    stored = keras_hooks.get_stored_value(variable)
    return jnp.array(stored, copy=True) if sys.getrefcount(stored) > _OWN_REFERENCES else stored


_compiled: dict[Any, Any] = {}
_MOST_KEPT: Final = 128


def _compiled_before(lowered: Any, devices: tuple[Any, ...]) -> Any:
    """The text of a program says all about it but its devices, so equal texts for equal devices are the same one."""
    key = (hashlib.sha256(lowered.as_text().encode()).digest(), devices)
    if key not in _compiled:
        if len(_compiled) >= _MOST_KEPT:
            del _compiled[next(iter(_compiled))]
        _compiled[key] = lowered.compile()
    return _compiled[key]
