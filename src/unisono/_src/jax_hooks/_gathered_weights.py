"""Weights that are sharded over the replicas: gathered where a layer reads them, and only for as long.

A read is marked with a primitive of our own, linear, whose transpose marks the gradient: XLA sees a constraint to the
whole value for the one, and to the shards for the other. Left alone, XLA would gather a weight once, in the forward
pass, and keep it to the backward pass: so that all weights are whole at the same time. :func:`gather_where_used`
therefore changes the traced step so that every operation gathers for itself, and not before its other operands are
there. What is derived from a weight alone and cheaply, a cast for example, is derived again.

Checked against JAX 0.10.2: a barrier keeps XLA from merging two gathers of one weight, and is dropped afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive, Var
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding

from unisono._src import hooks
from unisono._src.jax_hooks._equations import evaluate_equation
from unisono._src.jax_hooks._recording_trace import RecordingTrace, trace_below_tapes
from unisono._src.jax_hooks._traces import current_trace, use_trace

_gather: Final = Primitive("unisono_gather_weight")
_scatter: Final = Primitive("unisono_scatter_gradient")

# What is done again rather than kept, if all of its operands are weights. Each costs a pass over the weight at most.
_CHEAP: Final = hooks.require_primitives(
    "broadcast_in_dim",
    "convert_element_type",
    "copy",
    "div",
    "mul",
    "neg",
    "reduce_precision",
    "reshape",
    "slice",
    "squeeze",
    "stop_gradient",
    "transpose",
    why="what is derived cheaply from a gathered weight is derived again",
)


def sum_gradient(gradient: Any, *, whole: NamedSharding) -> Any:
    """``gradient`` summed over the replicas, before it is sharded.

    If only the shards are asked for, XLA may gather the activations of all rows on every device, which then computes
    its shard from them: cheaper for few rows, but the work and the memory grow with the number of devices. Where it can
    XLA makes a reduce-scatter of the sum and what follows.
    """
    return jax.lax.with_sharding_constraint(gradient, whole)


def _constrain_to_whole(value: Any, *, whole: NamedSharding, sharded: NamedSharding) -> Any:
    del sharded
    return jax.lax.with_sharding_constraint(value, whole)


def _sum_and_shard(gradient: Any, *, whole: NamedSharding, sharded: NamedSharding) -> Any:
    return jax.lax.with_sharding_constraint(sum_gradient(gradient, whole=whole), sharded)


def _define(primitive: Primitive, constrain: Callable[..., Any]) -> None:
    primitive.def_impl(constrain)
    primitive.def_abstract_eval(lambda value, **_: value)
    mlir.register_lowering(primitive, mlir.lower_fun(constrain, multiple_results=False))
    # Of a batch of weights nobody has said how it is stored.
    batching.primitive_batchers[primitive] = lambda values, dims, **_: (values[0], dims[0])


_define(_gather, _constrain_to_whole)
_define(_scatter, _sum_and_shard)
ad.deflinear2(_gather, lambda gradient, _, **layouts: [_scatter.bind(gradient, **layouts)])
ad.deflinear2(_scatter, lambda gradient, _, **layouts: [_gather.bind(gradient, **layouts)])


def gather_weight(value: Any, *, whole: NamedSharding, sharded: NamedSharding) -> Any:
    """``value``, which is stored as ``sharded``, as a layer reads it in a trace: ``whole``.

    It is gathered in the trace that ``value`` belongs to, not in the body of a loop or of a checkpoint that reads it,
    which would gather it in every turn.
    """
    trace = _trace_to_gather_in(value)
    if trace is None:
        return _gather.bind(value, whole=whole, sharded=sharded)
    with use_trace(trace):
        return _gather.bind(value, whole=whole, sharded=sharded)


def _trace_to_gather_in(value: Any) -> Any:
    """The trace of ``value``; None for the current one: it is the same, or a tape in between has to see the gather."""
    own, trace = value._trace, current_trace()
    if trace_below_tapes(trace) is own:
        return None
    while trace is not None and trace is not own:
        if isinstance(trace, RecordingTrace):
            return None
        trace = getattr(trace, "parent_trace", None)
    return own


def gather_where_used(program: ClosedJaxpr, *, ahead: int) -> ClosedJaxpr:
    """``program`` in which each operation gathers the weights that it uses.

    With ``ahead=0`` not before its other operands are there, with ``ahead=1`` one such operation earlier: GPUs gather
    while they compute, at the price of two operations' weights at a time.
    """
    if not any(equation.primitive is _gather for equation in program.jaxpr.eqns):
        return program
    arguments = [jax.ShapeDtypeStruct(var.aval.shape, var.aval.dtype) for var in program.jaxpr.invars]
    evaluator = _JaxprEvaluator(program.jaxpr, ahead)
    return jax.make_jaxpr(lambda *values: evaluator.run(program.consts, values))(*arguments)


class _JaxprEvaluator:
    """Evaluates a jaxpr in a trace; what is derived from weights alone is evaluated for each operation that uses it."""

    def __init__(self, jaxpr: Jaxpr, ahead: int) -> None:
        self._jaxpr, self._ahead = jaxpr, ahead
        self._operands: list[Any] = []
        self._values: dict[Var, Any] = {}
        self._derived: dict[Var, JaxprEqn] = {}

    def run(self, consts: Any, arguments: Any) -> list[Any]:
        self._values = dict(zip(self._jaxpr.constvars, consts, strict=True))
        self._values |= zip(self._jaxpr.invars, arguments, strict=True)
        for equation in self._jaxpr.eqns:
            if self._is_derived_from_weights(equation):
                self._derived[equation.outvars[0]] = equation
                continue
            after = self._find_trigger(equation)
            operands = [self._read(atom, after) for atom in equation.invars]
            results = evaluate_equation(self._jaxpr, equation, operands)
            self._values |= zip(equation.outvars, results, strict=True)
        return [self._read(atom) for atom in self._jaxpr.outvars]

    def _find_trigger(self, equation: JaxprEqn) -> Any:
        """The value that has to be there before the weights of this operation are gathered; None for none."""
        others = [self._read(atom) for atom in equation.invars if not self._is_derived(atom)]
        traced = [value for value in others if isinstance(value, jax.core.Tracer)]
        if len(others) == len(equation.invars) or not traced:
            return None
        self._operands.append(traced[0])
        number = len(self._operands) - 1 - self._ahead
        return self._operands[number] if number >= 0 else None

    def _is_derived(self, atom: Any) -> bool:
        return not isinstance(atom, Literal) and atom in self._derived

    def _is_derived_from_weights(self, equation: JaxprEqn) -> bool:
        if equation.primitive is _gather:
            return True
        if equation.primitive.name not in _CHEAP or len(equation.outvars) != 1:
            return False
        operands = [atom for atom in equation.invars if not isinstance(atom, Literal)]
        return bool(operands) and all(atom in self._derived for atom in operands)

    def _read(self, atom: Any, after: Any = None) -> Any:
        if isinstance(atom, Literal):
            return atom.val
        if atom not in self._derived:
            return self._values[atom]
        equation = self._derived[atom]
        operands = [self._read(each, after) for each in equation.invars]
        if equation.primitive is _gather and after is not None:
            operands = list(jax.lax.optimization_barrier((operands[0], after)))[:1]
        return evaluate_equation(self._jaxpr, equation, operands)[0]
