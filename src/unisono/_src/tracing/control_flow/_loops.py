"""Loops that turn inside of the program: their body is traced for one turn, and what it changes is carried along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp

from unisono._src.tracing import tape
from unisono._src.tracing.control_flow._carry import Carry, TryAgain
from unisono._src.tracing.control_flow._errors import RESULT_AFTER_LOOP, Place
from unisono._src.tracing.control_flow._ranges import Rows, TracedRange
from unisono._src.tracing.control_flow._signals import BREAK, MayBreak, Returned, Signal
from unisono._src.tracing.control_flow._state import Changes, State
from unisono._src.tracing.control_flow._traced import truth
from unisono._src.tracing.functions import LoopBody, current_outer_scope, run_scan, run_while

RETURN_INSIDE = f"""`return` inside of this loop ends it in a turn that is known only when the program runs. Remember
the result, and leave the loop with `break`:
{RESULT_AFTER_LOOP}"""

NO_ELSE = """The loop may end by a `break` that is known only when the program runs, so it cannot have an `else`. Write
    found = False
    for ...:
        if condition:
            found = True
            break
    if not found:
        ..."""

NO_GRADIENT = """A gradient was asked for through this loop. How often it turns is known only when the program runs, so
there is no way back through it. Let it turn a number of times that is known before, a Python number:
    for i in tf.range(10):
A `break` may still end it early."""

TEST_ASSIGNS = """The condition of the loop assigns variables: {names}. Assign them in its body."""

_MOST_TRIES: Final = 16


def turn_while(
    test: Callable[[], Any], body: Callable[[], Signal], changes: Changes, carried: tuple[str, ...], place: Place
) -> bool:
    """`while test(): body()` with a traced test. Returns whether a `break` may have ended it."""

    def one_turn(operands: list[Any]) -> Signal:
        return body()

    def goes_on(operands: list[Any]) -> Any:
        return truth(test(), place)

    loop = _Loop((test, body), changes, carried, place)
    return loop.turned(0, one_turn, goes_on, None)


def turn_for(
    over: Rows | TracedRange,
    target: Callable[[Any], None],
    body: Callable[[], Signal],
    changes: Changes,
    carried: tuple[str, ...],
    place: Place,
) -> bool:
    """`for` over rows or a range; ``target`` binds its names. Returns whether a `break` may have ended it."""
    loop = _Loop((target, body), changes, carried, place)
    if isinstance(over, Rows):
        if over.length == 0:
            return False

        def one_row(row: list[Any]) -> Signal:
            target(over.value(row))
            return body()

        return loop.run_scan(over, one_row)
    count = over.count

    def one_turn(operands: list[Any]) -> Signal:
        target(over.number(operands[0]))
        return body()

    return loop.turned(1, one_turn, lambda operands: operands[0] < count, None)


class _Loop:
    """One loop: traces its body until what it is given and what it leaves are of one kind."""

    def __init__(
        self, pieces: tuple[Callable[..., Any], ...], changes: Changes, carried: tuple[str, ...], place: Place
    ) -> None:
        self._outer, self._place = current_outer_scope(), place
        self._carry = Carry(State(pieces, changes), carried, place)
        self._stops = False  # whether a `break` was seen that the program decides

    def run_scan(self, rows: Rows, one_row: Callable[[list[Any]], Signal]) -> bool:
        """A turn for every row. Gradients flow back."""

        def one_turn(operands: list[Any]) -> Signal:
            return one_row(operands[len(operands) - len(rows.arrays) :])

        kinds = [jax.ShapeDtypeStruct(array.shape[1:], array.dtype) for array in rows.arrays]
        if not self._stops or tape.is_any_tape_recording():
            body = self._body(0, one_turn, kinds, at_least_once=True, same_for_all=True)
            if not self._stops or tape.is_any_tape_recording():
                carry = [*self._flag(), *self._carry.arrays()]
                after = run_scan(self._outer, body, carry, rows.arrays, rows.length, may_stop=self._stops)
                return self._finish(after)

        def by_index(operands: list[Any]) -> Signal:
            return one_row(rows.row(operands[0]))

        return self.turned(1, by_index, lambda operands: operands[0] < rows.length, rows.length)

    def turned(
        self,
        counters: int,
        one_turn: Callable[[list[Any]], Signal],
        goes_on: Callable[[list[Any]], Any],
        length: int | None,
    ) -> bool:
        """Turns as long as ``goes_on`` says. With a counter, it is the first operand and counts them."""
        body = self._body(counters, one_turn, [], at_least_once=bool(length), same_for_all=False)

        def test(operands: list[Any]) -> list[Any]:
            flags = operands[counters : counters + self._stops]
            self._carry.put(operands[counters + self._stops :])
            try:
                going = goes_on(operands)
            finally:
                self._carry.restore()
            return [jnp.logical_and(going, jnp.logical_not(flags[0])) if flags else going]

        carry = [*[jnp.zeros((), "int32")] * counters, *self._flag(), *self._carry.arrays()]
        test_body = LoopBody(self._outer, test, [jax.typeof(array) for array in carry], same_for_all=False)
        if test_body.written:
            names = ", ".join(variable.path for variable in test_body.written.values())
            raise self._place.error(TEST_ASSIGNS.format(names=names))
        refusal = (lambda: self._place.error(NO_GRADIENT)) if tape.is_any_tape_recording() else None
        after = run_while(self._outer, test_body, body, carry, refusal)
        return self._finish(after[counters:])

    def _flag(self) -> list[Any]:
        return [jnp.zeros((), bool)] * self._stops

    def _finish(self, after: list[Any]) -> bool:
        self._carry.finish(after[self._stops :])
        return self._stops

    def _body(
        self,
        counters: int,
        one_turn: Callable[[list[Any]], Signal],
        rows: list[Any],
        *,
        at_least_once: bool,
        same_for_all: bool,
    ) -> LoopBody:
        def traced(operands: list[Any]) -> list[Any]:
            first = counters + self._stops
            self._carry.put(operands[first : len(operands) - len(rows)])
            try:
                flag = self._stopped(one_turn(operands))
                after = self._carry.taken(at_least_once)
            finally:
                self._carry.restore()
            return [*[counter + 1 for counter in operands[:counters]], *flag, *after]

        for _ in range(_MOST_TRIES):
            head = [jax.ShapeDtypeStruct((), "int32")] * counters + [jax.ShapeDtypeStruct((), bool)] * self._stops
            operands = [*head, *self._carry.kinds(), *rows]
            try:
                return LoopBody(self._outer, traced, operands, same_for_all and not self._stops)
            except TryAgain:
                continue
        raise AssertionError("the kinds of the values of a loop never settle")

    def _stopped(self, signal: Signal) -> list[Any]:
        """The flag that says whether to stop, if there is one."""
        if isinstance(signal, Returned):
            raise self._place.error(RETURN_INSIDE)
        may_stop = signal is BREAK or isinstance(signal, MayBreak)
        if may_stop and not self._stops:
            self._stops = True
            raise TryAgain
        stops = signal.stops if isinstance(signal, MayBreak) else signal is BREAK
        return [jnp.asarray(stops)] * self._stops
