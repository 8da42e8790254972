"""What rewritten code calls in the place of Python's control flow: as `ag__.if_(...)`, with the line it stands in.

Each looks at the value at hand. What Python knows, Python decides; what is traced becomes a part of the program.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp

from unisono._src.tracing.control_flow import _signals
from unisono._src.tracing.control_flow._choice import choose, choose_and_go_on, chosen_value
from unisono._src.tracing.control_flow._depth import Deeper
from unisono._src.tracing.control_flow._errors import Place
from unisono._src.tracing.control_flow._loops import NO_ELSE, turn_for, turn_while
from unisono._src.tracing.control_flow._ranges import to_turn_over
from unisono._src.tracing.control_flow._signals import BREAK, MayBreak, Returned, Signal
from unisono._src.tracing.control_flow._state import Changes
from unisono._src.tracing.control_flow._traced import array_of, is_traced, truth

PYTHON_LOOP = """`break` on a condition that is known only when the program runs, in a loop that Python turns: it has to
know when to end. Let the program turn the loop. Instead of
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
    """Those for the code of one file.

    Args:
        file: its path.
        convert_callee: makes of a function that is about to be called what is called in its place.
    """

    BREAK, CONTINUE, END, Returned = _signals.BREAK, _signals.CONTINUE, _signals.END, _signals.Returned
    traced = staticmethod(is_traced)

    def __init__(self, file: str, convert_callee: Callable[[Any], Any]) -> None:
        self._file = file
        self.call = convert_callee

    def _at(self, line: int) -> Place:
        return Place(self._file, line)

    def if_(self, test: Any, then: Callable[[], Any], otherwise: Callable[[], Any], changes: Any, line: int) -> None:
        """An `if` whose branches do not jump."""
        if is_traced(test):
            with Deeper(self._at(line)):
                choose(test, (then, otherwise), Changes(*changes), self._at(line))
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
        surely: bool,
        line: int,
    ) -> Signal:
        """An `if` with a `return`, `break` or `continue` in it, and what follows it."""
        if is_traced(test):
            both = (Changes(*changes[0]), Changes(*changes[1]))
            with Deeper(self._at(line)):
                return choose_and_go_on(test, (then, otherwise), rest, both, surely, self._at(line))
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
        """A `while`. Gives BREAK or what was returned if it was left that way. ``binds``: there is a := in its test."""
        while True:
            value = test()
            if is_traced(value):
                with Deeper(self._at(line)):
                    may_break = turn_while(test, body, Changes(*changes), carried, self._at(line))
                if binds and may_break:
                    raise self._at(line).error(NO_WALRUS)
                if binds:
                    test()
                self._check_else(may_break and has_else, line)
                return None
            if not value:
                return None
            signal = self.known(body(), line)
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
        """A `for`. ``target`` binds its names. Gives BREAK or what was returned if it was left that way."""
        over = to_turn_over(iterable)
        if over is not None:
            with Deeper(self._at(line)):
                may_break = turn_for(over, target, body, Changes(*changes), carried, self._at(line))
            self._check_else(may_break and has_else, line)
            return None
        for value in iterable:
            target(value)
            signal = self.known(body(), line)
            if signal is BREAK or isinstance(signal, Returned):
                return signal
        return None

    def loops(self, iterable: Any) -> bool:
        """Whether the program has to turn over ``iterable``."""
        return to_turn_over(iterable) is not None

    def known(self, signal: Signal, line: int) -> Signal:
        """``signal``, which Python has to know."""
        if isinstance(signal, MayBreak):
            raise self._at(line).error(PYTHON_LOOP)
        return signal

    def is_returned(self, signal: Signal) -> bool:
        """Whether the function returns."""
        return isinstance(signal, Returned)

    def choice(self, test: Any, then: Callable[[], Any], otherwise: Callable[[], Any], line: int) -> Any:
        """`a if test else b`."""
        if is_traced(test):
            with Deeper(self._at(line)):
                return chosen_value(test, (then, otherwise), self._at(line))
        return then() if test else otherwise()

    def and_(self, first: Any, *others: Callable[[], Any], is_test: bool, line: int) -> Any:
        """`a and b and c`; all but the first are computed when they are needed. Of a test only the truth matters."""
        value = first
        for other in others:
            if is_traced(value):
                value = self._either(value, other(), value, is_test, line)
            elif value:
                value = other()
            else:
                return value
        return value

    def or_(self, first: Any, *others: Callable[[], Any], is_test: bool, line: int) -> Any:
        """`a or b or c`."""
        value = first
        for other in others:
            if is_traced(value):
                value = self._either(value, value, other(), is_test, line)
            elif value:
                return value
            else:
                value = other()
        return value

    def _either(self, condition: Any, one: Any, other: Any, is_test: bool, line: int) -> Any:
        """``one`` if the traced condition is true, else ``other``."""
        place = self._at(line)
        condition = truth(condition, place)
        if is_test:
            one, other = (truth(value, place) if is_traced(value) else bool(value) for value in (one, other))
            return jnp.where(condition, one, other)
        return self.choice(condition, lambda: array_of(one), lambda: array_of(other), line)

    def not_(self, value: Any, line: int) -> Any:
        """`not a`."""
        return jnp.logical_not(truth(value, self._at(line))) if is_traced(value) else not value

    def compare(self, first: Any, *comparisons: tuple[str, Callable[[], Any]], line: int) -> Any:
        """`a < b < c`."""
        left, value = first, True
        for name, compute in comparisons:
            if not is_traced(value) and not value:
                return value
            right = compute()
            compared = _COMPARISONS[name](left, right)
            if is_traced(value):
                compared = jnp.logical_and(truth(value, self._at(line)), truth(compared, self._at(line)))
            left, value = right, compared
        return value

    def asserted(self, test: Any, line: int) -> Any:
        """The condition of an `assert`."""
        if is_traced(test):
            raise self._at(line).error(NO_ASSERT)
        return test

    def _check_else(self, refused: bool, line: int) -> None:
        if refused:
            raise self._at(line).error(NO_ELSE)
