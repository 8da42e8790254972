"""Diagonals and bands of matrices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import static_int
from unisono.tf._tensors import as_array


@op
def trace(x: Any) -> Any:
    """The sums of the diagonals."""
    return jnp.trace(as_array(x), axis1=-2, axis2=-1)


@op
def diag(
    diagonal: Any, k: int = 0, num_rows: int = -1, num_cols: int = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """Matrices with these numbers on the diagonal, or on that ``k`` places beside it."""
    array = as_array(diagonal)
    rows = max(array.shape[-1] + max(-k, 0), num_rows)
    columns = max(array.shape[-1] + max(k, 0), num_cols)
    if num_rows == num_cols == -1:  # square, if nothing is said
        rows = columns = max(rows, columns)
    places = np.arange(array.shape[-1])
    empty = jnp.full((*array.shape[:-1], rows, columns), padding_value, array.dtype)
    return empty.at[..., places + max(-k, 0), places + max(k, 0)].set(array)


@op
def diag_part(input: Any, k: int = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """The diagonals of matrices, or those ``k`` places beside."""
    return jnp.diagonal(as_array(input), k, axis1=-2, axis2=-1)


@op
def tensor_diag(diagonal: Any) -> Any:
    """A tensor with these numbers on its diagonal: twice the dims."""
    array = as_array(diagonal)
    return jnp.diag(array.reshape(-1)).reshape(*array.shape, *array.shape)


@op
def tensor_diag_part(input: Any) -> Any:
    """The diagonal of a tensor whose shape is the same one twice."""
    array = as_array(input)
    shape = array.shape[: array.ndim // 2]
    return jnp.diagonal(array.reshape(int(np.prod(shape)), -1)).reshape(shape)


@op
def set_diag(input: Any, diagonal: Any, k: int = 0, align: str = "RIGHT_LEFT") -> Any:
    """Matrices with other numbers on the diagonal."""
    array = as_array(input)
    values = as_array(diagonal, array.dtype)
    places = np.arange(values.shape[-1])
    return array.at[..., places + max(-k, 0), places + max(k, 0)].set(values)


@op
def band_part(input: Any, num_lower: Any, num_upper: Any) -> Any:
    """Matrices with zeros outside of a band: so many diagonals below and above; a negative number: all."""
    array = as_array(input)
    lower, upper = static_int(num_lower), static_int(num_upper)
    distance = np.subtract.outer(np.arange(array.shape[-2]), np.arange(array.shape[-1]))
    inside = ((lower < 0) | (distance <= lower)) & ((upper < 0) | (-distance <= upper))
    return jnp.where(inside, array, jnp.zeros((), array.dtype))
