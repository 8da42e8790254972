"""Loops whose bodies may assign variables: each variable that a body writes is carried with the other loop values."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from unisono._src import jax_hooks, keras_hooks
from unisono._src.replicas import context
from unisono._src.tracing.functions._nested import NestedScope, OuterScope, divergent_branch, write_to_outer

ASSIGNED_IN_SOME_ITERATIONS = """The variable {name!r} is assigned by one replica inside a loop that ends depending on
its values. Other replicas may end in another iteration, and it would wait for them forever. Give the loop a number of
iterations that is known beforehand, or compute the value in the loop and assign it after it."""


class _BodyScope(NestedScope):
    """The variables that the body of a loop reads and writes in one iteration.

    Attributes:
        read_first: the variables whose value at the beginning of the iteration the body reads.
    """

    def __init__(self, outer: OuterScope, trace: Any, same_for_all: bool) -> None:
        super().__init__(outer, trace, may_run_on_host=True)
        self._same_for_all = same_for_all
        self.read_first: dict[int, Any] = {}

    def read(self, variable: Any) -> Any:
        key = id(variable)
        if key not in self._state:
            self.read_first[key] = variable
            self._state[key] = jax_hooks.make_placeholder(self._trace, key, self._outer.read(variable))
        return self._state[key]

    def aggregate(self, variable: Any, value: Any) -> Any:
        replica = context.current_replica()
        diverges = replica is not None and replica.is_in_divergent_branch and not keras_hooks.is_on_read(variable)
        if diverges and not self._same_for_all:
            raise RuntimeError(ASSIGNED_IN_SOME_ITERATIONS.format(name=variable.path))
        return super().aggregate(variable, value)


class LoopBody:
    """The body of a loop, or its test, traced separately for one iteration.

    Args:
        outer: the scope around the loop.
        function: from a list of arrays to a list of arrays.
        operands: the shapes and dtypes of the former.
        same_for_all: whether all replicas run the same number of iterations.

    Attributes:
        result_avals: the shapes and dtypes of what it returns.
        written: the variables that it writes, by identity.
        read_first: those whose value at the beginning of the iteration it reads.
    """

    def __init__(
        self,
        outer: OuterScope,
        function: Callable[[list[Any]], list[Any]],
        operands: Sequence[Any],
        same_for_all: bool,
    ) -> None:
        self.written: dict[int, Any] = {}
        self.read_first: dict[int, Any] = {}

        def trace(operands: list[Any]) -> Any:
            iteration = contextlib.nullcontext() if same_for_all else divergent_branch()
            with iteration, _BodyScope(outer, jax_hooks.current_trace(), same_for_all) as scope:
                results = function(operands)
            self.written, self.read_first = scope.written, scope.read_first
            return results, [scope.read(variable) for variable in scope.written.values()]

        self._jaxpr = jax.make_jaxpr(trace)(list(operands))
        self.result_avals = list(self._jaxpr.out_avals[: len(self._jaxpr.out_avals) - len(self.written)])

    def run(self, operands: list[Any], values: dict[int, Any]) -> tuple[list[Any], dict[int, Any]]:
        """One iteration, with ``values`` in the variables: what it returns, and the variables that it writes."""
        flat = jax_hooks.substitute(self._jaxpr, lambda key, like: values[key], operands)
        num_results = len(self.result_avals)
        return flat[:num_results], dict(zip(self.written, flat[num_results:], strict=True))


_State = tuple[list[Any], list[Any]]
"""The carried arrays, and the values of the variables that the body writes."""


class _LoopState:
    """The arrays and variables of a loop: those that are carried, and those that stay as they are.

    A body may return more than it is given. That is not passed to the next iteration, but is there at the end: zeros if
    there was no iteration.
    """

    def __init__(self, outer: OuterScope, body: LoopBody, carry: list[Any], *tests: LoopBody) -> None:
        self._outer, self._body, self._written, self._num_operands = outer, body, body.written, len(carry)
        # A tape around the loop sees these values enter it, not the placeholders that its iterations read.
        read_first = {key: variable for part in (body, *tests) for key, variable in part.read_first.items()}
        values = {key: outer.get_current_value(variable) for key, variable in read_first.items()}
        values |= {key: outer.read(variable) for key, variable in body.written.items() if key not in values}
        self._constant = {key: value for key, value in values.items() if key not in self._written}
        additional = [jnp.zeros(aval.shape, aval.dtype) for aval in body.result_avals[len(carry) :]]
        self.start: _State = ([*carry, *additional], [values[key] for key in self._written])

    def inputs(self, state: _State) -> tuple[list[Any], dict[int, Any]]:
        """What the body or the test is given: operands, and the values of variables."""
        return state[0][: self._num_operands], self._constant | dict(zip(self._written, state[1], strict=True))

    def iterate(self, state: _State, row: list[Any]) -> _State:
        operands, values = self.inputs(state)
        results, written = self._body.run([*operands, *row], values)
        return results, list(written.values())

    def finish(self, state: _State) -> list[Any]:
        for variable, value in zip(self._written.values(), state[1], strict=True):
            write_to_outer(self._outer, variable, value)
        return state[0]


def run_scan(
    outer: OuterScope, body: LoopBody, carry: list[Any], rows: list[Any], length: int, *, may_stop: bool
) -> list[Any]:
    """``length`` iterations of ``body`` over the carry and a row of each of ``rows``; returns what the last one did.

    ``may_stop`` says that the first value of the carry is a flag which, once true, leaves everything as it is.
    """
    loop = _LoopState(outer, body, carry)

    def step(state: _State, row: list[Any]) -> tuple[_State, None]:
        if not may_stop:
            return loop.iterate(state, row), None
        return jax.lax.cond(state[0][0], lambda: state, lambda: loop.iterate(state, row)), None

    return loop.finish(jax.lax.scan(step, loop.start, rows, length)[0])


def run_while(
    outer: OuterScope,
    test: LoopBody,
    body: LoopBody,
    carry: list[Any],
    without_gradient: Callable[[], Exception] | None,
) -> list[Any]:
    """Iterations of ``body`` over the carry as long as ``test`` of it is true; returns what the last one did.

    ``without_gradient`` makes the error that is raised if gradients through the loop are asked for; None leaves that to
    JAX.
    """
    loop = _LoopState(outer, body, carry, test)

    def continues(state: _State) -> Any:
        return test.run(*loop.inputs(state))[0][0]

    def run(state: _State) -> _State:
        return jax.lax.while_loop(continues, lambda state: loop.iterate(state, []), state)

    return loop.finish((run if without_gradient is None else _refuse_gradient(run, without_gradient))(loop.start))


def _refuse_gradient(function: Callable[[Any], Any], error: Callable[[], Exception]) -> Callable[[Any], Any]:
    """``function``, whose gradient raises ``error``. Its derivative in forward mode is that of `jax.lax.while_loop`."""

    def call(argument: Any) -> Any:
        jaxpr, shapes = jax.make_jaxpr(function, return_shape=True)(argument)

        def evaluate(*flat: Any) -> list[Any]:
            # What it uses from outside are arguments too, so that a tape that watches these notices.
            consts, leaves = flat[: len(jaxpr.consts)], flat[len(jaxpr.consts) :]
            return jax.core.eval_jaxpr(jaxpr.jaxpr, consts, *leaves)

        forward_only = jax_hooks.refuse_reverse_mode(evaluate, error)
        results = forward_only(*map(jnp.asarray, jaxpr.consts), *jax.tree.leaves(argument))
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return call
