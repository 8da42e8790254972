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
    """The sum of the main diagonal of each matrix."""
    return jnp.trace(as_array(x), axis1=-2, axis2=-1)


@op
def diag(
    diagonal: Any, k: int = 0, num_rows: int = -1, num_cols: int = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """Matrices with these values on diagonal ``k``. Only one diagonal: a pair for ``k`` is not supported."""
    array = as_array(diagonal)
    rows = max(array.shape[-1] + max(-k, 0), num_rows)
    columns = max(array.shape[-1] + max(k, 0), num_cols)
    if num_rows == num_cols == -1:  # by default square
        rows = columns = max(rows, columns)
    indices = np.arange(array.shape[-1])
    empty = jnp.full((*array.shape[:-1], rows, columns), padding_value, array.dtype)
    return empty.at[..., indices + max(-k, 0), indices + max(k, 0)].set(array)


@op
def diag_part(input: Any, k: int = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """Diagonal ``k`` of each matrix. Only one diagonal: a pair for ``k`` is not supported."""
    return jnp.diagonal(as_array(input), k, axis1=-2, axis2=-1)


@op
def tensor_diag(diagonal: Any) -> Any:
    """A tensor of twice the rank with these values on its diagonal."""
    array = as_array(diagonal)
    return jnp.diag(array.reshape(-1)).reshape(*array.shape, *array.shape)


@op
def tensor_diag_part(input: Any) -> Any:
    """The diagonal of a tensor of shape `[*s, *s]`: a tensor of shape `s`."""
    array = as_array(input)
    shape = array.shape[: array.ndim // 2]
    return jnp.diagonal(array.reshape(int(np.prod(shape)), -1)).reshape(shape)


@op
def set_diag(input: Any, diagonal: Any, k: int = 0, align: str = "RIGHT_LEFT") -> Any:
    """Replaces diagonal ``k`` of each matrix."""
    array = as_array(input)
    values = as_array(diagonal, array.dtype)
    indices = np.arange(values.shape[-1])
    return array.at[..., indices + max(-k, 0), indices + max(k, 0)].set(values)


@op
def band_part(input: Any, num_lower: Any, num_upper: Any) -> Any:
    """Sets everything outside a band to 0.

    The band has ``num_lower`` diagonals below the main one and ``num_upper`` above; a negative number means all.
    """
    array = as_array(input)
    lower, upper = static_int(num_lower), static_int(num_upper)
    distance = np.subtract.outer(np.arange(array.shape[-2]), np.arange(array.shape[-1]))
    inside = ((lower < 0) | (distance <= lower)) & ((upper < 0) | (-distance <= upper))
    return jnp.where(inside, array, jnp.zeros((), array.dtype))
