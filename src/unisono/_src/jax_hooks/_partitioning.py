"""Operations that XLA partitions wrongly over the rows of a batch, changed so that it partitions them correctly.

docs/row-operations.md lists the operations that were compared with one device. Seen with jaxlib 0.10.2:

- A scatter of rows by unsigned numbers, if they do not divide evenly among the devices, ends the process: XLA pads the
  indices with a constant of another type ("Check failed: ShapeUtil::IsScalarWithElementType"). The gradients of
  `jnp.sort` and of `lax.sort` are such scatters.
- The gradient of max-pooling along the rows is wrong where windows overlap.

And if the devices of a replica divide the work of layers (`ModelParallelStrategy`):

- A scatter of rows that do not divide evenly, into a table that is sharded along the scattered dimension, adds what is
  in the padding to the first row: the gradient of an embedding whose table is used a second time.
- The gradient of the kernel of a convolution in groups (`DepthwiseConv2D`, `SeparableConv2D`) is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from unisono._src import hooks
from unisono._src.jax_hooks._equations import change_equations, replace_by

_WHY: Final = "XLA partitions some operations wrongly over the rows of a batch, which are replaced"
_POOLING_DERIVATIVES: Final = hooks.require_primitives("select_and_gather_add", "select_and_scatter_add", why=_WHY)
_CONVOLUTIONS: Final = hooks.require_primitives("conv_general_dilated", why=_WHY)
_SCATTERS: Final = hooks.require_primitives(
    *("scatter", "scatter-add", "scatter-max", "scatter-min", "scatter-mul", "scatter-sub"), why=_WHY
)


def make_partitionable(program: ClosedJaxpr, mesh: Mesh, num_replicas: int) -> ClosedJaxpr:
    """``program``, to be compiled for several devices of ``mesh``, among which the rows are divided into
    ``num_replicas`` parts."""

    def change(jaxpr: Jaxpr) -> list[JaxprEqn]:
        changed = [_change(equation, mesh) for equation in jaxpr.eqns]
        if num_replicas == mesh.size:
            return changed
        return [_change_in_divided_layers(equation, mesh, num_replicas) for equation in changed]

    return change_equations(program, change)


def _change(equation: JaxprEqn, mesh: Mesh) -> JaxprEqn:
    name = equation.primitive.name
    if name in _SCATTERS and jnp.issubdtype(_aval(equation.invars[1]).dtype, jnp.unsignedinteger):
        return replace_by(equation, _scatter_by_signed_indices(equation))
    if name in _POOLING_DERIVATIVES:
        return replace_by(equation, _replicate_pooled_dims(equation, mesh))
    return equation


def _change_in_divided_layers(equation: JaxprEqn, mesh: Mesh, num_replicas: int) -> JaxprEqn:
    name = equation.primitive.name
    if name in _SCATTERS and any(size % num_replicas for size in _aval(equation.invars[1]).shape[:-1]):
        return replace_by(equation, _scatter_whole_updates(equation, mesh))
    if name in _CONVOLUTIONS and _is_in_groups(equation):
        return replace_by(equation, _convolve_whole_channels(equation, mesh))
    return equation


def _is_in_groups(convolution: JaxprEqn) -> bool:
    return any(convolution.params[name] > 1 for name in ("feature_group_count", "batch_group_count"))


def _scatter_whole_updates(equation: JaxprEqn, mesh: Mesh) -> Callable[..., Any]:
    whole = NamedSharding(mesh, PartitionSpec())

    def scatter(operand: Any, *indices_and_updates: Any) -> Any:
        return _bind(equation, operand, *jax.lax.with_sharding_constraint(indices_and_updates, whole))

    return scatter


def _convolve_whole_channels(equation: JaxprEqn, mesh: Mesh) -> Callable[..., Any]:
    """The operation with all channels on every device; in the gradient of a kernel all rows too."""
    lhs, _, out = equation.params["dimension_numbers"]
    is_kernel_gradient = equation.params["batch_group_count"] > 1

    def constrain(value: Any, row_dim: int | None) -> Any:
        spec = [PartitionSpec.UNCONSTRAINED if dim == row_dim else None for dim in range(value.ndim)]
        return jax.lax.with_sharding_constraint(value, NamedSharding(mesh, PartitionSpec(*spec)))

    def convolve(left: Any, right: Any) -> Any:
        left = constrain(left, None if is_kernel_gradient else lhs[0])
        result = _bind(equation, left, constrain(right, None))
        return constrain(result, None if is_kernel_gradient else out[0])

    return convolve


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
