"""The program of all replicas: sums over the rows of a batch that do not depend on each other become one.

In a program over all devices the gradient of a kernel is a product that contracts the rows, and XLA makes it a product
of each device's rows and an all-reduce. It combines those of a step, but between processes on CPUs it still sums array
after array. Here the contribution of each replica is an array with one more dim, sharded over the replicas; all of them
are packed into one array, and the sum over that dim is the only all-reduce. The additions are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from jax.sharding import NamedSharding

from unisono._src import hooks
from unisono._src.jax_hooks._combined_all_reduces import evaluate_in_stages
from unisono._src.jax_hooks._equations import evaluate_equation
from unisono._src.replicas.values import apply_packed

_WHY: Final = "sums over the rows of a batch are merged"
_CALLS: Final = hooks.require_primitives(("jit", "pjit"), why=_WHY)
_CONSTRAINTS: Final = hooks.require_primitives("sharding_constraint", why=_WHY)
_SUMS: Final = hooks.require_primitives("reduce_sum", why=_WHY)
_PRODUCTS: Final = hooks.require_primitives("dot_general", why=_WHY)


def combine_row_sums(program: ClosedJaxpr, sharded_rows: NamedSharding, num_replicas: int) -> ClosedJaxpr:
    """``program`` with few sums over the rows: as many as depend on each other.

    Rows are the first dim of arrays that the program constrains to ``sharded_rows``. Their number must be divisible by
    that of the replicas; else nothing is changed. Sums in loops and branches stay as they are.
    """
    changed = _drop_unread(_inline_calls(program))
    counts = {
        equation.outvars[0].aval.shape[0]
        for equation in changed.jaxpr.eqns
        if equation.primitive.name in _CONSTRAINTS and equation.params["sharding"] == sharded_rows
    }
    divisible = frozenset(count for count in counts if count % num_replicas == 0)
    if not any(_sums_rows(equation, divisible) for equation in changed.jaxpr.eqns):
        return program

    def apply(sums: list[JaxprEqn], operands: list[list[Any]]) -> list[Any]:
        parts = [
            _sum_of_each_replica(equation, arrays, num_replicas)
            for equation, arrays in zip(sums, operands, strict=True)
        ]
        parts = [jax.lax.with_sharding_constraint(part, sharded_rows) for part in parts]
        summed: list[Any] = apply_packed(parts, lambda packed: packed.sum(0), lead=1)
        return summed

    def run(*inputs: Any) -> list[Any]:
        values = [*changed.consts, *inputs]
        return evaluate_in_stages(changed.jaxpr, values, lambda equation: _sums_rows(equation, divisible), apply)

    return _trace(run, program)


def _inline_calls(program: ClosedJaxpr) -> ClosedJaxpr:
    """``program`` without calls of functions. A function that returns a sum and a constant would make everything that
    reads the constant seem to depend on the sum."""

    def run(jaxpr: Jaxpr, inputs: list[Any]) -> list[Any]:
        known = dict(zip([*jaxpr.constvars, *jaxpr.invars], inputs, strict=True))

        def read(atom: Any) -> Any:
            return atom.val if isinstance(atom, Literal) else known[atom]

        for equation in jaxpr.eqns:
            operands = [read(atom) for atom in equation.invars]
            if equation.primitive.name in _CALLS:
                called = equation.params["jaxpr"]
                results = run(called.jaxpr, [*called.consts, *operands])
            else:
                results = evaluate_equation(jaxpr, equation, operands)
            known.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    return _trace(lambda *inputs: run(program.jaxpr, [*program.consts, *inputs]), program)


def _drop_unread(program: ClosedJaxpr) -> ClosedJaxpr:
    """``program`` without equations whose results nothing reads: a sum among them would be computed with the rest."""
    read = {atom for atom in program.jaxpr.outvars if not isinstance(atom, Literal)}
    kept = []
    for equation in reversed(program.jaxpr.eqns):
        if equation.effects or not read.isdisjoint(equation.outvars):
            kept.append(equation)
            read.update(atom for atom in equation.invars if not isinstance(atom, Literal))
    return ClosedJaxpr(program.jaxpr.replace(eqns=kept[::-1]), program.consts)


def _trace(function: Callable[..., list[Any]], program: ClosedJaxpr) -> ClosedJaxpr:
    traced: ClosedJaxpr = jax.make_jaxpr(function)(*(variable.aval for variable in program.jaxpr.invars))
    return traced


def _sums_rows(equation: JaxprEqn, counts: frozenset[int]) -> bool:
    if not all(_begins_with(atom, counts) for atom in equation.invars) or 0 in equation.outvars[0].aval.shape:  # type: ignore[attr-defined]
        return False
    if equation.primitive.name in _SUMS:
        return 0 in equation.params["axes"]
    if equation.primitive.name in _PRODUCTS:
        contracted, batch = equation.params["dimension_numbers"]
        return (0, 0) in zip(*contracted, strict=True) and not any(batch) and not equation.params["out_sharding"]
    return False


def _begins_with(atom: Any, counts: frozenset[int]) -> bool:
    shape = atom.aval.shape
    return not isinstance(atom, Literal) and bool(shape) and shape[0] in counts


def _sum_of_each_replica(equation: JaxprEqn, operands: list[Any], num_replicas: int) -> Any:
    """What the rows of each replica contribute, with a dim for the replicas at the beginning."""
    split = [array.reshape(num_replicas, array.shape[0] // num_replicas, *array.shape[1:]) for array in operands]
    if equation.primitive.name in _SUMS:
        return jax.lax.reduce_sum(split[0], axes=[dim + 1 for dim in equation.params["axes"]])
    contracted, _ = equation.params["dimension_numbers"]
    left, right = ([dim + 1 for dim in dims] for dims in contracted)
    return jax.lax.dot_general(
        split[0],
        split[1],
        dimension_numbers=((left, right), ((0,), (0,))),
        precision=equation.params["precision"],
        preferred_element_type=equation.params["preferred_element_type"],
    )
