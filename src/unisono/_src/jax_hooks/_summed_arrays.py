"""Arrays that are summed over their rows stay in row-major order on a GPU.

XLA:GPU prefers a layout in which the summed dimensions are the last ones. The gradients of biases, of normalizations
and of embedded positions are such sums, and XLA propagates their layout through the whole backward pass, which then
transposes its arrays before and after every product: 8 of the 69 ms of GPT-2 small's step on an H200.

Only for programs of one device: XLA does not partition a layout constraint, it gathers the whole array.
"""

from __future__ import annotations

import math
from typing import Any, Final

from jax.experimental.layout import Layout, with_layout_constraint
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from unisono._src import hooks
from unisono._src.jax_hooks._equations import change_equations, replace_by

_SUMS: Final = hooks.require_primitives(
    "reduce_sum", why="arrays that are summed over their rows stay in row-major order"
)


def keep_rows_major(program: ClosedJaxpr) -> ClosedJaxpr:
    """``program`` with the operand of every sum over leading dimensions in row-major order."""
    return change_equations(program, _change)


def _change(jaxpr: Jaxpr) -> list[JaxprEqn]:
    return [_constrain(equation) if _sums_leading_dimensions(equation) else equation for equation in jaxpr.eqns]


def _sums_leading_dimensions(equation: JaxprEqn) -> bool:
    if equation.primitive.name not in _SUMS:
        return False
    axes, shape = tuple(equation.params["axes"]), equation.invars[0].aval.shape  # type: ignore[attr-defined]
    num_summed = math.prod(shape[: len(axes)])
    return len(axes) < len(shape) and axes == tuple(range(len(axes))) and num_summed > 1


def _constrain(equation: JaxprEqn) -> JaxprEqn:
    def constrained_sum(x: Any) -> Any:
        row_major = Layout(tuple(range(x.ndim)))
        return equation.primitive.bind(with_layout_constraint(x, row_major), **equation.params)

    return replace_by(equation, constrained_sum)
