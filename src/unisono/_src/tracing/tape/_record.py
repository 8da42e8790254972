"""What a tape stores: which values it follows, and the operations that computed them.

Only the pullbacks that need a value keep it: a tape holds what gradients need and nothing else.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from unisono._src import jax_hooks
from unisono._src.tracing.tape._followed_values import FollowedValues
from unisono._src.tracing.tape._vjp import VjpResult, run_with_vjp


@dataclass(frozen=True, slots=True)
class RecordedOperation:
    """An operation that was run, by the numbers of its values.

    Attributes:
        inputs: the numbers of its arguments that are followed.
        results: those of its results; None for one that is not followed.
        shapes: the shapes and dtypes of its results.
        takes_symbolic_zeros: whether the pullback does.
        pull_back: from cotangents of the results to those of the inputs.
        rerun: runs it once more; None if the arguments were not kept.
    """

    inputs: list[int]
    results: list[int | None]
    shapes: list[Any]
    takes_symbolic_zeros: bool
    pull_back: Callable[[list[Any]], Sequence[Any]]
    rerun: Callable[[], VjpResult] | None

    def pull_back_cotangents(self, cotangents: list[Any], recompute: bool) -> Sequence[Any]:
        """Cotangents of the inputs from those of the results; None for a result that has none.

        ``recompute`` runs the operation again, for a tape that could not record what was computed for the pullback.
        """
        pull_back = self.rerun().pull_back if recompute and self.rerun is not None else self.pull_back
        return pull_back(
            [
                jax_hooks.zero_cotangent(shape, self.takes_symbolic_zeros) if cotangent is None else cotangent
                for cotangent, shape in zip(cotangents, self.shapes, strict=True)
            ]
        )


class Record:
    """The operations that were run, with a number for every value that they use or compute.

    Attributes:
        operations: in the order in which they ran.
        followed: the values that have a number.
        keeps_arguments: whether operations can be run again, which takes memory.
    """

    def __init__(self, keeps_arguments: bool) -> None:
        self.operations: list[RecordedOperation] = []
        self.keeps_arguments = keeps_arguments
        self.followed = FollowedValues[int]()
        self._counter = itertools.count()

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables whose reads are followed, in the order of their first reads."""
        return self.followed.variables

    def follows(self, value: Any) -> bool:
        """Whether ``value`` has a number."""
        return value in self.followed

    def get_number(self, value: Any) -> int | None:
        """The number of an array or of a variable, if it has one."""
        return self.followed.find(value)

    def new_number(self) -> int:
        """A number that no value has."""
        return next(self._counter)

    def watch(self, value: Any) -> None:
        """Follows ``value``, an array, from now on."""
        if is_differentiable(value) and value not in self.followed:
            self._follow(value)

    def watch_variable(self, variable: Any, value: Any) -> None:
        """Follows ``variable``, whose value is ``value``, from the next read on.

        A variable has one number for all its values, so that gradients add up over them.
        """
        if is_differentiable(value) and not self.followed.has_variable(variable):
            self.followed.add_variable(variable, self.new_number())

    def record(self, call: Callable[..., list[Any]], arguments: Sequence[Any], evaluating: bool) -> list[Any]:
        """Runs ``call(*arguments)``; records it if an argument is followed."""
        indices = tuple(index for index, argument in enumerate(arguments) if argument in self.followed)
        if not indices:
            return list(call(*arguments))
        inputs = [self.followed[arguments[index]] for index in indices]
        run = functools.partial(run_with_vjp, call, arguments, indices, evaluating)
        outcome = run()
        results = list(map(self._copy_if_followed, outcome.results, outcome.connected))
        numbers = list(map(self._number_result, results, outcome.connected))
        if any(number is not None for number in numbers):
            self.operations.append(
                RecordedOperation(
                    inputs=inputs,
                    results=numbers,
                    shapes=[jax.typeof(result) for result in results],
                    takes_symbolic_zeros=jax_hooks.accepts_symbolic_zeros(call),
                    pull_back=outcome.pull_back,
                    rerun=run if self.keeps_arguments else None,
                )
            )
        return results

    def _number_result(self, result: Any, connected: bool) -> int | None:
        return self._follow(result) if connected and is_differentiable(result) else None

    def _copy_if_followed(self, result: Any, connected: bool) -> Any:
        """``result``, copied if it is an object that has a number: `stop_gradient` and others return their argument."""
        if result not in self.followed:
            return result
        return jnp.array(result if connected else lax.stop_gradient(result), copy=True)

    def _follow(self, value: Any) -> int:
        number = self.new_number()
        self.followed.add(value, number)
        return number


def is_differentiable(value: Any) -> bool:
    """Whether ``value`` is an array of real or complex numbers."""
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.inexact)
