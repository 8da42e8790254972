"""Products of matrices, vectors and tensors."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf._dtypes import to_jax_dtype
from unisono.tf._op import op
from unisono.tf._operands import convert_operands, convert_together, static_int
from unisono.tf._tensors import as_array


@op
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
) -> Any:
    """Multiplies matrices in the last two dims.

    >>> matmul([[1.0, 2.0]], [[3.0], [4.0]]).tolist()
    [[11.0]]
    """
    a, b = convert_operands(a, b)
    if a.ndim < 2 or b.ndim < 2:
        raise ValueError(
            f"tf.matmul: the shapes are {tuple(a.shape)} and {tuple(b.shape)}. Expected at least two dims; "
            f" for a vector write tf.linalg.matvec(a, b), or b[:, tf.newaxis]."
        )
    product = jnp.matmul(maybe_transpose(a, transpose_a, adjoint_a), maybe_transpose(b, transpose_b, adjoint_b))
    return product if output_type is None else product.astype(to_jax_dtype(output_type))


@op
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
) -> Any:
    """Multiplies matrices by vectors."""
    a, b = convert_operands(a, b)
    return jnp.matmul(maybe_transpose(a, transpose_a, adjoint_a), b[..., None])[..., 0]


@op
def tensordot(a: Any, b: Any, axes: Any) -> Any:
    """Contracts dims of two tensors; ``axes`` is a number of dims or a pair of lists."""
    a, b = convert_operands(a, b)
    if isinstance(axes, list | tuple):
        axes = tuple(int(each) if np.ndim(each) == 0 else tuple(map(int, each)) for each in axes)
    else:
        axes = static_int(axes)
    return jnp.tensordot(a, b, axes)


@op
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Sums of products in Einstein notation: `einsum("ij,jk->ik", a, b)`."""
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError(f"tf.einsum: unknown arguments {sorted(kwargs)}. Expected `optimize` and `name`.")
    _, arrays = convert_together(inputs)
    return jnp.einsum(equation, *arrays)


@op
def matrix_transpose(a: Any, conjugate: bool = False) -> Any:
    """Swaps the last two dims."""
    return maybe_transpose(as_array(a), not conjugate, conjugate)


@op
def adjoint(matrix: Any) -> Any:
    """Swaps the last two dims and conjugates."""
    return maybe_transpose(as_array(matrix), False, True)


@op
def cross(a: Any, b: Any) -> Any:
    """The cross product of vectors of length 3."""
    return jnp.cross(*convert_operands(a, b))


def maybe_transpose(array: Any, transpose: bool, adjoint: bool) -> Any:
    """Returns the array, its transpose or its adjoint."""
    if transpose and adjoint:
        raise ValueError("Both transpose and adjoint are True for one matrix. Expected at most one of them.")
    if transpose or adjoint:
        array = jnp.swapaxes(array, -1, -2)
    return jnp.conj(array) if adjoint else array
