"""What a tape remembers: which values it follows, and how each of them came from others.

A value is known by its identity, not by a wrapper around it. While the value lives, that is a number in a table; when
nobody has it any more the entry goes, and only the way back from it is kept. So a tape holds what gradients need and
nothing else.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from unisono._src import jax_hooks
from unisono._src.tracing.tape._pull_backs import Outcome, differentiated


@dataclass(frozen=True, slots=True)
class Step:
    """An operation that was done, by the numbers of its values.

    Attributes:
        inputs: the numbers of its arguments that are followed.
        results: those of its results; None for one that is not followed.
        shapes: the shapes and dtypes of its results.
        takes_symbolic_zeros: whether the pull-back does.
        pull_back: from cotangents of the results to those of the inputs.
        again: does it once more, if the arguments were kept.
    """

    inputs: list[int]
    results: list[int | None]
    shapes: list[Any]
    takes_symbolic_zeros: bool
    pull_back: Callable[[list[Any]], Sequence[Any]]
    again: Callable[[], Outcome] | None

    def walked_back(self, cotangents: list[Any], anew: bool) -> Sequence[Any]:
        """Cotangents of the inputs from those of the results; None for a result that has none.

        ``anew`` does the operation again, for a tape that could not see what was computed for the way back.
        """
        pull_back = self.again().pull_back if anew and self.again is not None else self.pull_back
        return pull_back(
            [
                jax_hooks.zero_cotangent(shape, self.takes_symbolic_zeros) if cotangent is None else cotangent
                for cotangent, shape in zip(cotangents, self.shapes, strict=True)
            ]
        )


class Record:
    """A list of steps, with a number for every value that they lead to or come from.

    Attributes:
        steps: the steps.
        keeps_arguments: whether operations can be done again, which takes memory.
    """

    def __init__(self, keeps_arguments: bool) -> None:
        self.steps: list[Step] = []
        self.keeps_arguments = keeps_arguments
        self._numbers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._variables: dict[int, tuple[Any, int]] = {}
        self._counter = itertools.count()

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables whose reads are followed, in the order in which they were first."""
        return tuple(variable for variable, _ in self._variables.values())

    def follows(self, value: Any) -> bool:
        """Whether ``value`` has a number."""
        return id(value) in self._numbers

    def number_of(self, value: Any) -> int | None:
        """The number of an array or of a variable, if it has one."""
        found = self._variables.get(id(value)) or self._numbers.get(id(value))
        return None if found is None else found[1]

    def new_number(self) -> int:
        """A number that nothing has."""
        return next(self._counter)

    def watch(self, value: Any) -> None:
        """From now on follows ``value``, an array."""
        if is_differentiable(value) and id(value) not in self._numbers:
            self._follow(value)

    def watch_variable(self, variable: Any, value: Any) -> None:
        """From now on follows ``variable``, whose value is ``value``."""
        if is_differentiable(value):
            self._variables.setdefault(id(variable), (variable, self.new_number()))
            self.record_variable_read(variable, value)

    def record_variable_read(self, variable: Any, value: Any) -> None:
        """``variable`` was read and gave ``value``: if it is followed, using that is using the variable.

        One number for whatever values a variable has, so that gradients add up over them. The last to be read has the
        number, whoever had it before: the value that was just computed and assigned, or another variable with which it
        is shared. So nothing flows through an assignment, as in TensorFlow.
        """
        known = self._variables.get(id(variable))
        if known is not None and self.number_of(value) != known[1]:
            self._follow(value, known[1])

    def record(self, call: Callable[..., list[Any]], arguments: Sequence[Any], evaluating: bool) -> list[Any]:
        """Does ``call(*arguments)``; adds a step if an argument is followed."""
        indices = tuple(index for index, argument in enumerate(arguments) if id(argument) in self._numbers)
        if not indices:
            return list(call(*arguments))
        inputs = [self._numbers[id(arguments[index])][1] for index in indices]
        do = functools.partial(differentiated, call, arguments, indices, evaluating)
        outcome = do()
        results = list(map(self._distinct, outcome.results, outcome.connected))
        numbers = list(map(self._number_result, results, outcome.connected))
        if any(number is not None for number in numbers):
            self.steps.append(
                Step(
                    inputs=inputs,
                    results=numbers,
                    shapes=[jax.typeof(result) for result in results],
                    takes_symbolic_zeros=jax_hooks.accepts_symbolic_zeros(call),
                    pull_back=outcome.pull_back,
                    again=do if self.keeps_arguments else None,
                )
            )
        return results

    def _number_result(self, result: Any, connected: bool) -> int | None:
        return self._follow(result) if connected and is_differentiable(result) else None

    def _distinct(self, result: Any, connected: bool) -> Any:
        """``result`` as an object of its own: operations such as `stop_gradient` return what they were given."""
        if id(result) not in self._numbers:
            return result
        return jnp.array(result if connected else lax.stop_gradient(result), copy=True)

    def _follow(self, value: Any, number: int | None = None) -> int:
        number = self.new_number() if number is None else number
        key = id(value)
        # Called as pop(key, reference) when the value dies; the reference is only what pop returns for a missing key.
        self._numbers[key] = (weakref.ref(value, functools.partial(self._numbers.pop, key)), number)
        return number


def is_differentiable(value: Any) -> bool:
    """Whether ``value`` is an array of real or complex numbers."""
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.inexact)
