"""How much a traced program computes: the floating-point operations of its products and convolutions."""

from __future__ import annotations

import math
from typing import Any, Final

from jax.extend.core import JaxprEqn

from unisono._src import hooks
from unisono._src.jax_hooks._equations import inner_jaxprs, primitive_names

_WHY: Final = "the operations of a program are counted"
_PRODUCTS: Final = hooks.require_primitives("dot_general", why=_WHY)
_CONVOLUTIONS: Final = hooks.require_primitives("conv_general_dilated", why=_WHY)
_SCANS: Final = hooks.require_primitives("scan", why=_WHY)


def count_matmul_flops(jaxpr: Any) -> float:
    """The operations of all products and convolutions, each iteration of a scan included, other loops once."""
    total = 0.0
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name in _PRODUCTS:
            total += _product(equation)
        elif name in _CONVOLUTIONS:
            total += _convolution(equation)
        else:
            repeated = equation.params["length"] if name in _SCANS else 1
            total += repeated * sum(count_matmul_flops(inner) for inner in inner_jaxprs(equation))
    return total


def has_convolutions(jaxpr: Any) -> bool:
    """Whether there is a convolution among the operations of a program."""
    return not _CONVOLUTIONS.isdisjoint(primitive_names(jaxpr))


def _product(equation: JaxprEqn) -> float:
    (contracted, _), _ = equation.params["dimension_numbers"]
    left: Any = equation.invars[0].aval
    result: Any = equation.outvars[0].aval
    return 2.0 * float(math.prod(result.shape) * math.prod(left.shape[dim] for dim in contracted))


def _convolution(equation: JaxprEqn) -> float:
    kernel: Any = equation.invars[1].aval
    result: Any = equation.outvars[0].aval
    num_outputs = kernel.shape[equation.params["dimension_numbers"].rhs_spec[0]]
    return 2.0 * float(math.prod(result.shape) * math.prod(kernel.shape) / max(num_outputs, 1))
