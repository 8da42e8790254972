"""Loops whose bodies may assign variables: each variable that a body writes goes from turn to turn with the rest."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from unisono._src import jax_hooks, keras_hooks
from unisono._src.replicas import context
from unisono._src.tracing.functions._nested import NestedScope, OuterScope, divergent_branch, write_to_outer

ASSIGNED_IN_SOME_TURNS = """The variable {name!r} is assigned by one replica inside a loop that ends when its values say
so. The others may end in another turn, and it would wait for them forever. Let the loop turn a number of times that is
known beforehand, or compute the value in the loop and assign it after it."""


class _BodyScope(NestedScope):
    """What the body of a loop reads and writes in one turn.

    Attributes:
        read_first: the variables of which the body wants the value that they have at the beginning of the turn.
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
        alone = replica is not None and replica.is_in_divergent_branch and not keras_hooks.is_on_read(variable)
        if alone and not self._same_for_all:
            raise RuntimeError(ASSIGNED_IN_SOME_TURNS.format(name=variable.path))
        return super().aggregate(variable, value)


class LoopBody:
    """The body of a loop, or its test, traced by itself for one turn.

    Args:
        outer: the scope around the loop.
        function: from a list of arrays to a list of arrays.
        operands: the shapes and dtypes of the former.
        same_for_all: whether all replicas turn equally often.

    Attributes:
        result_avals: the shapes and dtypes of what it returns.
        written: the variables that it writes, by identity.
        used: those that it reads or writes.
    """

    def __init__(
        self, outer: OuterScope, function: Callable[[list[Any]], list[Any]], operands: Sequence[Any], same_for_all: bool
    ) -> None:
        self.written: dict[int, Any] = {}
        self.used: dict[int, Any] = {}

        def traced(operands: list[Any]) -> Any:
            turns = contextlib.nullcontext() if same_for_all else divergent_branch()
            with turns, _BodyScope(outer, jax_hooks.current_trace(), same_for_all) as scope:
                results = function(operands)
            self.written, self.used = scope.written, scope.read_first | scope.written
            return results, [scope.read(variable) for variable in scope.written.values()]

        self._jaxpr = jax.make_jaxpr(traced)(list(operands))
        self.result_avals = list(self._jaxpr.out_avals[: len(self._jaxpr.out_avals) - len(self.written)])

    def run(self, operands: list[Any], values: dict[int, Any]) -> tuple[list[Any], dict[int, Any]]:
        """One turn, with ``values`` in the variables: what it returns, and the variables that it writes."""
        flat = jax_hooks.substitute(self._jaxpr, lambda key, like: values[key], operands)
        return flat[: len(self.result_avals)], dict(zip(self.written, flat[len(self.result_avals) :], strict=True))


class _Turns:
    """The arrays and variables of a loop: what is carried, and what stays as it is.

    A body may return more than it is given. That is not given to the next turn, but is there in the end: zeros if
    there was no turn.
    """

    def __init__(self, outer: OuterScope, body: LoopBody, carry: list[Any], *others: LoopBody) -> None:
        self._outer, self._body, self._written, self._given = outer, body, body.written, len(carry)
        used = {key: variable for part in (body, *others) for key, variable in part.used.items()}
        values = {key: outer.read(variable) for key, variable in used.items()}
        self._known = {key: value for key, value in values.items() if key not in self._written}
        late = [jnp.zeros(kind.shape, kind.dtype) for kind in body.result_avals[len(carry) :]]
        self.start: _State = ([*carry, *late], [values[key] for key in self._written])

    def given(self, state: _State) -> tuple[list[Any], dict[int, Any]]:
        """What a turn or a test is given: operands, and the values of variables."""
        return state[0][: self._given], self._known | dict(zip(self._written, state[1], strict=True))

    def turn(self, state: _State, row: list[Any]) -> _State:
        operands, values = self.given(state)
        results, written = self._body.run([*operands, *row], values)
        return results, list(written.values())

    def finish(self, state: _State) -> list[Any]:
        for variable, value in zip(self._written.values(), state[1], strict=True):
            write_to_outer(self._outer, variable, value)
        return state[0]


_State = tuple[list[Any], list[Any]]


def run_scan(
    outer: OuterScope, body: LoopBody, carry: list[Any], rows: list[Any], length: int, *, may_stop: bool
) -> list[Any]:
    """``length`` turns of ``body`` over the carry and a row of each of ``rows``; returns what the last one did.

    ``may_stop`` says that the first of the carry tells whether to leave all as it is from now on.
    """
    turns = _Turns(outer, body, carry)

    def step(state: _State, row: list[Any]) -> tuple[_State, None]:
        if not may_stop:
            return turns.turn(state, row), None
        return jax.lax.cond(state[0][0], lambda: state, lambda: turns.turn(state, row)), None

    return turns.finish(jax.lax.scan(step, turns.start, rows, length)[0])


def run_while(
    outer: OuterScope,
    test: LoopBody,
    body: LoopBody,
    carry: list[Any],
    without_gradient: Callable[[], Exception] | None,
) -> list[Any]:
    """Turns of ``body`` over the carry as long as ``test`` of it gives True; returns what the last one did.

    ``without_gradient`` makes the error for one who asks for gradients through the loop; None leaves that to JAX.
    """
    turns = _Turns(outer, body, carry, test)

    def goes_on(state: _State) -> Any:
        return test.run(*turns.given(state))[0][0]

    def loop(state: _State) -> _State:
        return jax.lax.while_loop(goes_on, lambda state: turns.turn(state, []), state)

    return turns.finish((loop if without_gradient is None else _refusing(loop, without_gradient))(turns.start))


def _refusing(function: Callable[[Any], Any], error: Callable[[], Exception]) -> Callable[[Any], Any]:
    """``function``, whose gradients are ``error``."""

    def called(argument: Any) -> Any:
        jaxpr, shapes = jax.make_jaxpr(function, return_shape=True)(argument)

        @jax.custom_vjp
        def evaluated(*flat: Any) -> list[Any]:
            # What it uses from outside are arguments too, so that whoever follows these sees it.
            consts, leaves = flat[: len(jaxpr.consts)], flat[len(jaxpr.consts) :]
            return jax.core.eval_jaxpr(jaxpr.jaxpr, consts, *leaves)

        def backward(residuals: None, cotangents: Any) -> Any:
            raise error()

        evaluated.defvjp(lambda *flat: (evaluated(*flat), None), backward)
        results = evaluated(*map(jnp.asarray, jaxpr.consts), *jax.tree.leaves(argument))
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return called
