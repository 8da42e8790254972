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
    """The product of matrices in the last two dims.

    >>> matmul([[1.0, 2.0]], [[3.0], [4.0]]).tolist()
    [[11.0]]
    """
    a, b = convert_operands(a, b)
    if a.ndim < 2 or b.ndim < 2:
        raise ValueError(
            f"tf.matmul: the shapes are {tuple(a.shape)} and {tuple(b.shape)}. Expected matrices, with two dims at "
            f"least; for a vector write tf.linalg.matvec(a, b), or b[:, tf.newaxis]."
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
    """The product of matrices and vectors."""
    a, b = convert_operands(a, b)
    return jnp.matmul(maybe_transpose(a, transpose_a, adjoint_a), b[..., None])[..., 0]


@op
def tensordot(a: Any, b: Any, axes: Any) -> Any:
    """Sums of products over these dims of both."""
    a, b = convert_operands(a, b)
    if isinstance(axes, list | tuple):
        axes = tuple(int(each) if np.ndim(each) == 0 else tuple(map(int, each)) for each in axes)
    else:
        axes = static_int(axes)
    return jnp.tensordot(a, b, axes)


@op
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Sums of products by Einstein's notation: `einsum("ij,jk->ik", a, b)`."""
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError(f"tf.einsum: unknown arguments {sorted(kwargs)}. Expected `optimize` and `name`.")
    _, arrays = convert_together(inputs)
    return jnp.einsum(equation, *arrays)


@op
def matrix_transpose(a: Any, conjugate: bool = False) -> Any:
    """The last two dims exchanged."""
    array = as_array(a)
    return maybe_transpose(array, not conjugate, conjugate)


@op
def adjoint(matrix: Any) -> Any:
    """The last two dims exchanged, of the conjugate."""
    return maybe_transpose(as_array(matrix), False, True)


@op
def cross(a: Any, b: Any) -> Any:
    """The cross products of vectors of three numbers."""
    return jnp.cross(*convert_operands(a, b))


def maybe_transpose(array: Any, transposed: bool, adjoint: bool) -> Any:
    if transposed and adjoint:
        raise ValueError("A matrix cannot be transposed and adjoint at once. Use one of the two.")
    if transposed or adjoint:
        array = jnp.swapaxes(array, -1, -2)
    return jnp.conj(array) if adjoint else array
