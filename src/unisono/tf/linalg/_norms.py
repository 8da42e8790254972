"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import as_floating, static_axes


@op
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None) -> Any:
    """The norm of all values, of vectors along one dim, or of matrices along two."""
    array, dims = as_floating(tensor), static_axes(axis)
    if dims is None:
        flat = _vector_norm(array.reshape(-1), ord, 0, False)
        return flat.reshape((1,) * array.ndim) if keepdims else flat
    if isinstance(dims, int) or len(dims) == 1:
        return _vector_norm(array, ord, dims if isinstance(dims, int) else dims[0], bool(keepdims))
    return jnp.linalg.norm(array, "fro" if ord == "euclidean" else ord, dims, bool(keepdims))


@op
def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None) -> Any:
    """The tensor divided by its norm, and the norm."""
    array = as_floating(tensor)
    norms = norm(array, ord, axis, keepdims=True)
    return array / norms, norms


@op
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, dim: Any = None) -> Any:
    """Divides by the Euclidean norm along ``axis``, which is at least `sqrt(epsilon)`."""
    array, dims = as_floating(x), static_axes(axis if dim is None else dim)
    total = jnp.sum(jnp.square(jnp.abs(array)), dims, keepdims=True)
    return array * jax.lax.rsqrt(jnp.maximum(total, epsilon)).astype(array.dtype)


@op
def global_norm(t_list: Any) -> Any:
    """The Euclidean norm of all values of a list of tensors; None in the list is skipped."""
    arrays = [as_floating(each) for each in t_list if each is not None]
    return jnp.sqrt(sum((jnp.sum(jnp.square(array)) for array in arrays), start=jnp.zeros(())))


def _vector_norm(array: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    return jnp.linalg.norm(array, 2 if ord in ("euclidean", "fro") else ord, axis, keepdims)
