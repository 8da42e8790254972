"""Hook: computes the value of a traced array now, from what is known while the trace is still running.

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1: a `DynamicJaxprTracer` has `val`, its variable in the jaxpr or a
literal, and `parent`, the `TracingEqn` that computes it (None for arguments and constants); the constants of a trace
are in `frame.constvar_to_val`, and may belong to the enclosing trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import jax
from jax._src.interpreters.partial_eval import DynamicJaxprTracer, TracingEqn
from jax.extend.core import Literal

from unisono._src import hooks
from unisono._src.jax_hooks._equations import evaluate_equation
from unisono._src.jax_hooks._placeholders import is_placeholder

_INDICES: Final = hooks.require_primitives("axis_index", why="a value is computed as the first replica computes it")
_UNKNOWN: Final = object()
_MAX_COMPARED: Final = 1000  # operations


class NotEvaluableError(Exception):
    """A traced array depends on something that is not known before the program runs."""


def check_tracers() -> None:
    """Checks that JAX has what is used here."""
    why = "initial values of variables are computed outside the trace"
    hooks.require(TracingEqn, "in_tracers", expects="type member_descriptor", why=why)
    hooks.require(DynamicJaxprTracer, "parent", expects="type member_descriptor", why=why, works=_has_parents)


def _has_parents() -> bool:
    """Only traces: a computation would start JAX when Unisono is imported, before workers can join each other."""
    found = []

    def trace(x: Any) -> Any:
        y: Any = jax.lax.sin(jax.lax.neg(x))
        (negative,) = y.parent.in_tracers
        (argument,) = negative.parent.in_tracers
        found.append(argument is x and argument.parent is None and y.val in y.parent.outvars)
        return y

    jax.make_jaxpr(trace)(jax.ShapeDtypeStruct((), "float32"))
    return found == [True]


def argument_variable(tracer: Any) -> Any:
    """What identifies an argument of the function that is being traced, see :func:`evaluate_traced`."""
    return tracer.val


def evaluate_traced(
    value: Any, arguments: Mapping[Any, Any], read_placeholder: Callable[[int], Any] | None = None
) -> Any:
    """Computes ``value`` with these arguments (by :func:`argument_variable`), and the values of placeholders by key.

    To be called where operations are carried out. What differs between replicas is computed for the first one. Raises
    :class:`NotEvaluableError` if it depends on anything else, such as the state of a loop around it.
    """
    values: dict[Any, Any] = dict(arguments)
    pending = [value]
    while pending:
        tracer = pending[-1]
        if _find_value(tracer, values) is not _UNKNOWN:
            pending.pop()
            continue
        constant = tracer._trace.frame.constvar_to_val.get(tracer.val)
        inputs = [constant] if constant is not None else _inputs_of(tracer)
        missing = [each for each in inputs if _find_value(each, values) is _UNKNOWN]
        if missing:
            pending += missing
        elif constant is not None:
            values[tracer.val] = _find_value(constant, values)
        else:
            found = [_find_value(each, values) for each in inputs]
            values.update(zip(tracer.parent.outvars, _compute(tracer.parent, found, read_placeholder), strict=True))
    return _find_value(value, values)


def compute_same(one: Any, other: Any) -> bool:
    """Whether two traced arrays are computed by the same operations from the same arrays; a No may be wrong."""
    pairs: list[tuple[Any, Any]] = [(one, other)]
    steps = 0
    while pairs and steps < _MAX_COMPARED:
        one, other = pairs.pop()
        steps += 1
        if one is other:
            continue
        if not all(isinstance(each, DynamicJaxprTracer) for each in (one, other)):
            return False
        if isinstance(one.val, Literal) and isinstance(other.val, Literal):
            if one.aval == other.aval and one.val.val == other.val.val:
                continue
            return False
        if one.val is other.val:
            continue
        first, second = one.parent, other.parent
        if first is None or second is None or first.primitive is not second.primitive or first.effects:
            return False
        if first.params != second.params or first.outvars.index(one.val) != second.outvars.index(other.val):
            return False
        pairs += zip(first.in_tracers, second.in_tracers, strict=True)
    return not pairs


def _find_value(value: Any, values: dict[Any, Any]) -> Any:
    if not isinstance(value, jax.core.Tracer):
        return value
    if not isinstance(value, DynamicJaxprTracer):
        raise NotEvaluableError(f"{value} belongs to a transformation of JAX")
    return value.val.val if isinstance(value.val, Literal) else values.get(value.val, _UNKNOWN)


def _inputs_of(tracer: Any) -> list[Any]:
    if tracer.parent is None:
        raise NotEvaluableError(f"{tracer} is an argument of a part that is traced by itself")
    return list(tracer.parent.in_tracers)


def _compute(equation: Any, arguments: list[Any], read_placeholder: Callable[[int], Any] | None) -> list[Any]:
    primitive, params = equation.primitive, equation.params
    if is_placeholder(primitive) and read_placeholder is not None:
        return [read_placeholder(params["key"])]
    if primitive.name in _INDICES:
        return [jax.numpy.zeros((), equation.outvars[0].aval.dtype)]
    try:
        with equation.ctx.manager:
            results = primitive.bind(*arguments, **primitive.get_bind_params(params))
    except NameError as error:  # a collective operation, whose axis exists in the program only
        raise NotEvaluableError(str(error)) from error
    return list(results) if primitive.multiple_results else [results]


def separate_operations(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, to be compiled, with the bits of one that runs operation by operation.

    In one program XLA computes ``(x * a) * b`` as ``x * (a * b)``: a draw times a standard deviation, for example.
    """

    def run(*arguments: Any) -> Any:
        traced, shape = jax.make_jaxpr(function, return_shape=True)(*arguments)
        values = dict(zip(traced.jaxpr.invars, jax.tree.leaves(arguments), strict=True))
        values |= zip(traced.jaxpr.constvars, traced.consts, strict=True)

        def read(atom: Any) -> Any:
            return atom.val if isinstance(atom, Literal) else values[atom]

        for equation in traced.jaxpr.eqns:
            results = evaluate_equation(traced.jaxpr, equation, [read(atom) for atom in equation.invars])
            values |= zip(equation.outvars, jax.lax.optimization_barrier(results), strict=True)
        flat = [read(atom) for atom in traced.jaxpr.outvars]
        return jax.tree.unflatten(jax.tree.structure(shape), flat)

    return run
