"""Changes equations of a traced program, those in the functions and loops that it calls included.

A traced program is a jaxpr: a list of equations. Changing them there reaches every operation, whoever called it (Keras,
jax.numpy, a user) and whatever JAX made of it (derivatives, batches, recomputation).

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1: the primitives in `_CALLS` carry what they call as jaxprs in their
parameters, and `Jaxpr` and `JaxprEqn` have `replace`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Final

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from unisono._src import hooks

Change = Callable[[Jaxpr], list[JaxprEqn]]
"""Gets a jaxpr and returns its equations, with others in the place of some."""

# Programs within a program. The jaxprs of other primitives are not: a reduction's is applied to scalars, and that of a
# shard_map is the program of one device.
_CALLS: Final = hooks.require_primitives(
    ("closed_call", "eval_jaxpr"),  # the second one since JAX 0.11.1
    "cond",
    "custom_jvp_call",
    "custom_linear_solve",
    "custom_vjp_call",
    ("jit", "pjit"),
    ("remat2", "checkpoint"),
    "scan",
    "while",
    why="operations are changed in the functions and loops that a program calls, too",
)


def change_equations(program: ClosedJaxpr, change: Change) -> ClosedJaxpr:
    """``program`` after ``change`` of its equations. What nothing changes in stays the same object."""
    return _Walk(change).closed(program)


class _Walk:
    def __init__(self, change: Change) -> None:
        self._change = change
        # A function that is called twice is one jaxpr, and should be one afterwards: JAX compiles it once. The key is
        # an identity, so the jaxpr is kept alive with it.
        self._known: dict[int, tuple[Any, Any]] = {}
        self._known_closed: dict[int, tuple[Any, Any]] = {}  # of its own: since JAX 0.12 both are of one class

    def closed(self, program: ClosedJaxpr) -> ClosedJaxpr:
        if id(program) not in self._known_closed:
            changed = self._jaxpr(program.jaxpr)
            closed = program if changed is program.jaxpr else ClosedJaxpr(changed, program.consts)
            self._known_closed[id(program)] = program, closed
        known: ClosedJaxpr = self._known_closed[id(program)][1]
        return known

    def _jaxpr(self, jaxpr: Jaxpr) -> Jaxpr:
        if id(jaxpr) not in self._known:
            changed = _replace_equations(jaxpr, [self._equation(equation) for equation in jaxpr.eqns])
            self._known[id(jaxpr)] = jaxpr, _replace_equations(changed, self._change(changed))
        known: Jaxpr = self._known[id(jaxpr)][1]
        return known

    def _equation(self, equation: JaxprEqn) -> JaxprEqn:
        if equation.primitive.name not in _CALLS:
            return equation
        changed = {}
        for name, parameter in equation.params.items():
            leaves, tree = jax.tree.flatten(parameter, is_leaf=lambda leaf: isinstance(leaf, Jaxpr | ClosedJaxpr))
            after = [self._leaf(leaf) for leaf in leaves]
            if not all(map(operator.is_, after, leaves)):
                changed[name] = jax.tree.unflatten(tree, after)
        return equation.replace(params={**equation.params, **changed}) if changed else equation

    def _leaf(self, leaf: Any) -> Any:
        if isinstance(leaf, ClosedJaxpr):
            return self.closed(leaf)
        return self._jaxpr(leaf) if isinstance(leaf, Jaxpr) else leaf


def _replace_equations(jaxpr: Jaxpr, equations: list[JaxprEqn]) -> Jaxpr:
    is_same = len(equations) == len(jaxpr.eqns) and all(map(operator.is_, equations, jaxpr.eqns))
    return jaxpr if is_same else jaxpr.replace(eqns=equations)


def inner_jaxprs(equation: JaxprEqn) -> list[Any]:
    """The jaxprs in the parameters of an equation: what it calls, repeats or applies."""
    leaves = jax.tree.leaves(list(equation.params.values()), is_leaf=lambda leaf: hasattr(leaf, "jaxpr"))
    candidates = [getattr(leaf, "jaxpr", leaf) for leaf in leaves]
    return [candidate for candidate in candidates if hasattr(candidate, "eqns")]


def primitive_names(jaxpr: Any) -> Iterator[str]:
    """The names of all operations of a program, those of inner functions included."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for inner in inner_jaxprs(equation):
            yield from primitive_names(inner)


def evaluate_equation(jaxpr: Jaxpr, equation: JaxprEqn, operands: list[Any]) -> list[Any]:
    """The results of one equation of ``jaxpr``, in the current trace, with its name scopes and source lines."""
    values = {
        atom: value for atom, value in zip(equation.invars, operands, strict=True) if not isinstance(atom, Literal)
    }
    single = jaxpr.replace(constvars=[], invars=[*values], outvars=equation.outvars, eqns=[equation])
    return list(jax.core.eval_jaxpr(single, [], *values.values()))


def replace_by(equation: JaxprEqn, function: Callable[..., Any]) -> JaxprEqn:
    """An equation that calls ``function``, of the same arguments and results, in the place of ``equation``."""
    (call,) = jax.make_jaxpr(jax.jit(function))(*(atom.aval for atom in equation.invars)).eqns
    replaced: JaxprEqn = equation.replace(primitive=call.primitive, params=call.params, effects=call.effects)
    return replaced
