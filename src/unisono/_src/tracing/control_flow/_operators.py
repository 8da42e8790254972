"""What rewritten code calls instead of Python's control flow: `ag__.if_(...)`, with the line of the statement.

Each operator looks at the value that it gets. If the value is known, Python decides; if it is traced, the statement
becomes a part of the program.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp

from unisono._src.tracing.control_flow import _signals
from unisono._src.tracing.control_flow._branches import traced_if, traced_if_expression, traced_if_with_jumps
from unisono._src.tracing.control_flow._errors import SourceLocation
from unisono._src.tracing.control_flow._loops import NO_ELSE, traced_for, traced_while
from unisono._src.tracing.control_flow._nesting_guard import NestingGuard
from unisono._src.tracing.control_flow._ranges import as_traced_iterable
from unisono._src.tracing.control_flow._signals import BREAK, MayBreak, Returned, Signal
from unisono._src.tracing.control_flow._state import Changes
from unisono._src.tracing.control_flow._traced_values import as_array, as_condition, is_traced

PYTHON_LOOP = """`break` on a condition that is known only when the program runs, in a loop that Python runs: Python has
to know when it ends. Let the program run the loop. Instead of
    for i in range(10):              while True:
write
    for i in tf.range(10):           done = False
                                     while not done:
                                         ...
                                         done = condition"""

NO_WALRUS = """The condition binds a name with `:=`, and a `break` that is known only when the program runs may end the
loop. Bind the name in the body of the loop."""

NO_ASSERT = """The condition of `assert` is known only when the program runs. Check it with
    tf.debugging.Assert(condition, [value])
or on what the function returns."""

_COMPARISONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda one, other: one in other,
    "not in": lambda one, other: one not in other,
}


class Operators:
    """The operators for the code of one file.

    Args:
        file: its path.
        convert_callee: converts a function that is about to be called.
    """

    BREAK, CONTINUE, END, Returned = _signals.BREAK, _signals.CONTINUE, _signals.END, _signals.Returned
    traced = staticmethod(is_traced)

    def __init__(self, file: str, convert_callee: Callable[[Any], Any]) -> None:
        self._file = file
        self.call = convert_callee

    def _location(self, line: int) -> SourceLocation:
        return SourceLocation(self._file, line)

    def if_(self, test: Any, then: Callable[[], Any], otherwise: Callable[[], Any], changes: Any, line: int) -> None:
        """An `if` whose branches do not jump."""
        if is_traced(test):
            with NestingGuard(self._location(line)):
                traced_if(test, (then, otherwise), Changes(*changes), self._location(line))
        elif test:
            then()
        else:
            otherwise()

    def if_jump(
        self,
        test: Any,
        then: Callable[[], Signal],
        otherwise: Callable[[], Signal],
        rest: Callable[[], Signal],
        changes: tuple[Any, Any],
        always_jumps: bool,
        line: int,
    ) -> Signal:
        """An `if` with a `return`, `break` or `continue` in it, and what follows it."""
        if is_traced(test):
            both = (Changes(*changes[0]), Changes(*changes[1]))
            with NestingGuard(self._location(line)):
                return traced_if_with_jumps(test, (then, otherwise), rest, both, always_jumps, self._location(line))
        signal = then() if test else otherwise()
        return rest() if signal is None else signal

    def while_(
        self,
        test: Callable[[], Any],
        body: Callable[[], Signal],
        binds: bool,
        changes: Any,
        carried: tuple[str, ...],
        has_else: bool,
        line: int,
    ) -> Signal:
        """A `while`. Returns BREAK or what was returned, if it was left so. ``binds``: its test has a `:=`."""
        while True:
            value = test()
            if is_traced(value):
                with NestingGuard(self._location(line)):
                    may_break = traced_while(test, body, Changes(*changes), carried, self._location(line))
                if binds and may_break:
                    raise self._location(line).error(NO_WALRUS)
                if binds:
                    test()
                self._check_else(may_break and has_else, line)
                return None
            if not value:
                return None
            signal = self.require_known(body(), line)
            if signal is BREAK or isinstance(signal, Returned):
                return signal

    def for_(
        self,
        iterable: Any,
        target: Callable[[Any], None],
        body: Callable[[], Signal],
        changes: Any,
        carried: tuple[str, ...],
        has_else: bool,
        line: int,
    ) -> Signal:
        """A `for`. ``target`` binds its names. Returns BREAK or what was returned, if it was left so."""
        traced = as_traced_iterable(iterable)
        if traced is not None:
            with NestingGuard(self._location(line)):
                may_break = traced_for(traced, target, body, Changes(*changes), carried, self._location(line))
            self._check_else(may_break and has_else, line)
            return None
        for value in iterable:
            target(value)
            signal = self.require_known(body(), line)
            if signal is BREAK or isinstance(signal, Returned):
                return signal
        return None

    def needs_traced_loop(self, iterable: Any) -> bool:
        """Whether a loop over ``iterable`` has to be a part of the program."""
        return as_traced_iterable(iterable) is not None

    def require_known(self, signal: Signal, line: int) -> Signal:
        """``signal``; an error if Python does not know it."""
        if isinstance(signal, MayBreak):
            raise self._location(line).error(PYTHON_LOOP)
        return signal

    def is_returned(self, signal: Signal) -> bool:
        """Whether the function returns."""
        return isinstance(signal, Returned)

    def choice(self, test: Any, then: Callable[[], Any], otherwise: Callable[[], Any], line: int) -> Any:
        """`a if test else b`."""
        if is_traced(test):
            with NestingGuard(self._location(line)):
                return traced_if_expression(test, (then, otherwise), self._location(line))
        return then() if test else otherwise()

    def and_(self, first: Any, *rest: Callable[[], Any], is_test: bool, line: int) -> Any:
        """`a and b and c`; all but the first are computed when they are needed. ``is_test``: only the truth matters."""
        value = first
        for compute in rest:
            if is_traced(value):
                value = self._select(value, compute(), value, is_test, line)
            elif value:
                value = compute()
            else:
                return value
        return value

    def or_(self, first: Any, *rest: Callable[[], Any], is_test: bool, line: int) -> Any:
        """`a or b or c`."""
        value = first
        for compute in rest:
            if is_traced(value):
                value = self._select(value, value, compute(), is_test, line)
            elif value:
                return value
            else:
                value = compute()
        return value

    def _select(self, condition: Any, one: Any, other: Any, is_test: bool, line: int) -> Any:
        """``one`` if the traced condition is true, else ``other``."""
        location = self._location(line)
        condition = as_condition(condition, location)
        if is_test:
            one, other = (as_condition(value, location) if is_traced(value) else bool(value) for value in (one, other))
            return jnp.where(condition, one, other)
        return self.choice(condition, lambda: as_array(one), lambda: as_array(other), line)

    def not_(self, value: Any, line: int) -> Any:
        """`not a`."""
        return jnp.logical_not(as_condition(value, self._location(line))) if is_traced(value) else not value

    def compare(self, first: Any, *comparisons: tuple[str, Callable[[], Any]], line: int) -> Any:
        """`a < b < c`."""
        left, value = first, True
        for name, compute in comparisons:
            if not is_traced(value) and not value:
                return value
            right = compute()
            compared = _COMPARISONS[name](left, right)
            if is_traced(value):
                compared = jnp.logical_and(
                    as_condition(value, self._location(line)), as_condition(compared, self._location(line))
                )
            left, value = right, compared
        return value

    def check_assert(self, test: Any, line: int) -> Any:
        """The condition of an `assert`."""
        if is_traced(test):
            raise self._location(line).error(NO_ASSERT)
        return test

    def _check_else(self, is_wrong: bool, line: int) -> None:
        if is_wrong:
            raise self._location(line).error(NO_ELSE)
