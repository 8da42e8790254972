"""Operations that XLA partitions wrongly over the rows of a batch, changed so that it partitions them correctly.

docs/row-operations.md lists the operations that were compared with one device. Seen with jaxlib 0.10.2:

- A scatter of rows by unsigned numbers, if they do not divide evenly among the devices, ends the process: XLA pads the
  indices with a constant of another type ("Check failed: ShapeUtil::IsScalarWithElementType"). The gradients of
  `jnp.sort` and of `lax.sort` are such scatters.
- The gradient of max-pooling along the rows is wrong where windows overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from unisono._src.jax_hooks._equations import change_equations, replace_by

_POOLING_DERIVATIVES: Final = ("select_and_gather_add", "select_and_scatter_add")


def make_partitionable(program: ClosedJaxpr, mesh: Mesh) -> ClosedJaxpr:
    """``program``, to be compiled for several devices of ``mesh``."""

    def change(jaxpr: Jaxpr) -> list[JaxprEqn]:
        return [_change(equation, mesh) for equation in jaxpr.eqns]

    return change_equations(program, change)


def _change(equation: JaxprEqn, mesh: Mesh) -> JaxprEqn:
    name = equation.primitive.name
    if name.startswith("scatter") and jnp.issubdtype(_aval(equation.invars[1]).dtype, jnp.unsignedinteger):
        return replace_by(equation, _scatter_by_signed_indices(equation))
    if name in _POOLING_DERIVATIVES:
        return replace_by(equation, _replicate_pooled_dims(equation, mesh))
    return equation


def _scatter_by_signed_indices(equation: JaxprEqn) -> Callable[..., Any]:
    def scatter(operand: Any, indices: Any, *updates: Any) -> Any:
        signed = jnp.dtype(f"int{8 * max(indices.dtype.itemsize, 4)}")
        # An index too large for the other type is out of bounds in either, and has to stay so.
        largest = np.array(min(np.iinfo(signed).max, np.iinfo(indices.dtype).max), indices.dtype)
        return _bind(equation, operand, jnp.minimum(indices, largest).astype(signed), *updates)

    return scatter


def _replicate_pooled_dims(equation: JaxprEqn, mesh: Mesh) -> Callable[..., Any]:
    """The operation with whole operands and results on every device along the dimensions in which windows extend."""
    windows, strides = equation.params["window_dimensions"], equation.params["window_strides"]
    spec = [
        PartitionSpec.UNCONSTRAINED if (window, stride) == (1, 1) else None
        for window, stride in zip(windows, strides, strict=True)
    ]
    layout = NamedSharding(mesh, PartitionSpec(*spec))

    def whole(values: Sequence[Any]) -> list[Any]:
        return [jax.lax.with_sharding_constraint(value, layout) for value in values]

    return lambda *operands: whole([_bind(equation, *whole(operands))])[0]


def _bind(equation: JaxprEqn, *operands: Any) -> Any:
    return equation.primitive.bind(*operands, **equation.params)


def _aval(atom: Any) -> Any:
    return atom.aval
