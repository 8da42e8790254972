"""Loops inside the program: their body is traced for one iteration, and what it changes is carried to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp

from unisono._src import keras_hooks
from unisono._src.tracing import tape
from unisono._src.tracing.control_flow._carry import Carry, RetraceNeeded
from unisono._src.tracing.control_flow._errors import RESULT_AFTER_LOOP, SourceLocation
from unisono._src.tracing.control_flow._ranges import TracedRange, TracedRows
from unisono._src.tracing.control_flow._signals import BREAK, MayBreak, Returned, Signal
from unisono._src.tracing.control_flow._state import Changes, FunctionState
from unisono._src.tracing.control_flow._traced_values import as_condition
from unisono._src.tracing.functions import LoopBody, current_outer_scope, run_scan, run_while

RETURN_INSIDE = f"""`return` inside this loop ends it in an iteration that is known only when the program runs.
Remember the result, and leave the loop with `break`:
{RESULT_AFTER_LOOP}"""

NO_ELSE = """The loop may end by a `break` that is known only when the program runs, so it cannot have an `else`. Write
    found = False
    for ...:
        if condition:
            found = True
            break
    if not found:
        ..."""

NO_GRADIENT = """A gradient was requested through this loop. Its trip count is known only at run time, so it is not
reverse-differentiable. Give it a trip count that is known before, a Python number:
    for i in tf.range(10):
A `break` may still end it early."""

TEST_ASSIGNS = """The condition of the loop assigns variables: {names}. Assign them in its body."""

_MAX_TRACES: Final = 16


def traced_while(
    test: Callable[[], Any],
    body: Callable[[], Signal],
    changes: Changes,
    carried: tuple[str, ...],
    location: SourceLocation,
) -> bool:
    """`while test(): body()` with a traced test. Returns whether a `break` may have ended it."""

    def run_iteration(operands: list[Any]) -> Signal:
        return body()

    def condition(operands: list[Any]) -> Any:
        return as_condition(test(), location)

    loop = _TracedLoop((test, body), changes, carried, location)
    return loop.while_loop(0, run_iteration, condition, None)


def traced_for(
    iterable: TracedRows | TracedRange,
    target: Callable[[Any], None],
    body: Callable[[], Signal],
    changes: Changes,
    carried: tuple[str, ...],
    location: SourceLocation,
) -> bool:
    """`for` over rows or a range; ``target`` binds its names. Returns whether a `break` may have ended it."""
    loop = _TracedLoop((target, body), changes, carried, location)
    if isinstance(iterable, TracedRows):
        if iterable.length == 0:
            return False

        def run_row(row: list[Any]) -> Signal:
            target(iterable.value(row))
            return body()

        return loop.scan(iterable, run_row)
    count = iterable.count

    def run_iteration(operands: list[Any]) -> Signal:
        target(iterable.number(operands[0]))
        return body()

    return loop.while_loop(1, run_iteration, lambda operands: operands[0] < count, None)


class _TracedLoop:
    """One loop: traces its body until the values that it gets and those that it leaves have the same types."""

    def __init__(
        self,
        functions: tuple[Callable[..., Any], ...],
        changes: Changes,
        carried: tuple[str, ...],
        location: SourceLocation,
    ) -> None:
        self._outer, self._location = current_outer_scope(), location
        self._carry = Carry(FunctionState(functions, changes), carried, location)
        self._has_break = False  # whether the program decides about a `break`: the loop then carries a flag

    def scan(self, rows: TracedRows, run_row: Callable[[list[Any]], Signal]) -> bool:
        """An iteration for every row. Reverse-differentiable."""

        def run_iteration(operands: list[Any]) -> Signal:
            return run_row(operands[len(operands) - len(rows.arrays) :])

        types = [jax.ShapeDtypeStruct(array.shape[1:], array.dtype) for array in rows.arrays]
        if not self._has_break or tape.is_any_tape_recording():
            body = self._trace_body(0, run_iteration, types, at_least_once=True, same_for_all=True)
            if not self._has_break or tape.is_any_tape_recording():
                carry = [*self._initial_flag(), *self._carry.arrays()]
                after = run_scan(self._outer, body, carry, rows.arrays, rows.length, may_stop=self._has_break)
                return self._finish(after)

        def run_row_at(operands: list[Any]) -> Signal:
            return run_row(rows.row(operands[0]))

        return self.while_loop(1, run_row_at, lambda operands: operands[0] < rows.length, rows.length)

    def while_loop(
        self,
        counters: int,
        run_iteration: Callable[[list[Any]], Signal],
        condition: Callable[[list[Any]], Any],
        length: int | None,
    ) -> bool:
        """Iterates while ``condition`` holds. A counter, if there is one, is the first operand and counts the
        iterations.
        """
        body = self._trace_body(counters, run_iteration, [], at_least_once=bool(length), same_for_all=False)

        def test(operands: list[Any]) -> list[Any]:
            flags = operands[counters : counters + self._has_break]
            self._carry.put(operands[counters + self._has_break :])
            try:
                holds = condition(operands)
            finally:
                self._carry.restore()
            return [jnp.logical_and(holds, jnp.logical_not(flags[0])) if flags else holds]

        carry = [*[jnp.zeros((), "int32")] * counters, *self._initial_flag(), *self._carry.arrays()]
        test_body = LoopBody(self._outer, test, [jax.typeof(array) for array in carry], same_for_all=False)
        if test_body.written:
            names = ", ".join(variable.path for variable in test_body.written.values())
            raise self._location.error(TEST_ASSIGNS.format(names=names))
        on_gradient = self._refuse_gradient if tape.is_any_tape_recording() else None
        after = run_while(self._outer, test_body, body, carry, on_gradient)
        return self._finish(after[counters:])

    def _refuse_gradient(self) -> Exception:
        keras_hooks.run_on_host_if_possible("a gradient goes through a loop whose trip count is known only at run time")
        return self._location.error(NO_GRADIENT)

    def _initial_flag(self) -> list[Any]:
        return [jnp.zeros((), bool)] * self._has_break

    def _finish(self, after: list[Any]) -> bool:
        self._carry.finish(after[self._has_break :])
        return self._has_break

    def _trace_body(
        self,
        counters: int,
        run_iteration: Callable[[list[Any]], Signal],
        rows: list[Any],
        *,
        at_least_once: bool,
        same_for_all: bool,
    ) -> LoopBody:
        def traced(operands: list[Any]) -> list[Any]:
            first = counters + self._has_break
            self._carry.put(operands[first : len(operands) - len(rows)])
            try:
                flag = self._break_flag(run_iteration(operands))
                after = self._carry.collect(at_least_once)
            finally:
                self._carry.restore()
            return [*[counter + 1 for counter in operands[:counters]], *flag, *after]

        for _ in range(_MAX_TRACES):
            head = [jax.ShapeDtypeStruct((), "int32")] * counters + [jax.ShapeDtypeStruct((), bool)] * self._has_break
            operands = [*head, *self._carry.types(), *rows]
            try:
                return LoopBody(self._outer, traced, operands, same_for_all and not self._has_break)
            except RetraceNeeded:
                continue
        raise AssertionError("the types of a loop's values do not converge")

    def _break_flag(self, signal: Signal) -> list[Any]:
        """The flag that ends the loop, as a list; empty if the loop carries none."""
        if isinstance(signal, Returned):
            raise self._location.error(RETURN_INSIDE)
        may_stop = signal is BREAK or isinstance(signal, MayBreak)
        if may_stop and not self._has_break:
            self._has_break = True
            raise RetraceNeeded
        stops = signal.stops if isinstance(signal, MayBreak) else signal is BREAK
        return [jnp.asarray(stops)] * self._has_break
