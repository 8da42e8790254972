"""The program of one replica: sums over the replicas that do not depend on each other become one.

A step sums its gradients, the loss that it returns and the counts of its metrics. Where every sum costs a round of
messages, as between processes on CPUs, one round is enough: none of them needs the result of another. Whether that
is so is seen in the traced program, whose operations are reordered for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import jax
from jax.core import eval_jaxpr
from jax.extend.core import Jaxpr, JaxprEqn, Literal

from unisono._src import hooks
from unisono._src.replicas.values import apply_packed

_SUMS: Final = hooks.require_primitives("psum", why="sums over the replicas are merged")


def combine_all_reduces(function: Callable[..., Any], axis: str) -> Callable[..., Any]:
    """``function`` with few sums over ``axis``: as many as depend on each other. It is traced whenever it is called."""

    def merged(*arguments: Any) -> Any:
        traced, shapes = jax.make_jaxpr(function, return_shape=True)(*arguments)
        inputs = [*traced.consts, *jax.tree.leaves(arguments)]
        results = evaluate_in_stages(traced.jaxpr, inputs, lambda equation: _is_sum(equation, axis), apply)
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    def apply(sums: list[JaxprEqn], operands: list[list[Any]]) -> list[Any]:
        del sums
        summed: list[Any] = apply_packed([each for some in operands for each in some], lambda v: _sum(v, axis))
        return summed

    return merged


def _has_visible_order(jaxpr: Jaxpr) -> bool:
    """Whether the order of its operations can be seen from outside: it prints, or calls back."""
    return any(type(effect).__name__ != "NamedAxisEffect" for effect in jaxpr.effects)


class _SumStage(NamedTuple):
    """Operations that need the sums of all earlier stages, and sums that need nothing but them."""

    operations: list[JaxprEqn]
    sums: list[JaxprEqn]


def _stages(jaxpr: Jaxpr, is_sum: Callable[[JaxprEqn], bool]) -> list[_SumStage]:
    stages: list[_SumStage] = [_SumStage([], [])]
    stage_of: dict[Any, int] = {}
    in_order = _has_visible_order(jaxpr)  # then every sum is a stage of its own
    for equation in jaxpr.eqns:
        number = max((stage_of.get(atom, 0) for atom in equation.invars if not isinstance(atom, Literal)), default=0)
        if in_order:
            number = len(stages) - 1
        if is_sum(equation):
            stages[number].sums.append(equation)
            number += 1
            if number == len(stages):
                stages.append(_SumStage([], []))
        else:
            stages[number].operations.append(equation)
        stage_of.update(dict.fromkeys(equation.outvars, number))
    return stages


def _is_sum(equation: JaxprEqn, axis: str) -> bool:
    return (
        equation.primitive.name in _SUMS
        and equation.params["axes"] == (axis,)
        and equation.params["axis_index_groups"] is None
    )


def _sum(nest: Any, axis: str) -> Any:
    return jax.lax.psum(nest, axis)


def evaluate_in_stages(
    jaxpr: Jaxpr,
    inputs: Sequence[Any],
    is_sum: Callable[[JaxprEqn], bool],
    apply: Callable[[list[JaxprEqn], list[list[Any]]], list[Any]],
) -> list[Any]:
    """The results of ``jaxpr``, whose sums are left to ``apply``: it gets those that do not depend on each other
    together, with the operands of each, and returns their results."""
    known = dict(zip([*jaxpr.constvars, *jaxpr.invars], inputs, strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else known[atom]

    for operations, sums in _stages(jaxpr, is_sum):
        made = [variable for equation in operations for variable in equation.outvars]
        part = jaxpr.replace(constvars=[], invars=list(known), outvars=made, eqns=operations)
        known.update(zip(made, eval_jaxpr(part, (), *known.values()), strict=True))
        if sums:
            results = [variable for equation in sums for variable in equation.outvars]
            summed = apply(sums, [[read(atom) for atom in equation.invars] for equation in sums])
            known.update(zip(results, summed, strict=True))
    return [read(atom) for atom in jaxpr.outvars]
