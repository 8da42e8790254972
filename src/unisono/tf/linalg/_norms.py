"""Lengths."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import as_floating, static_axes


@op
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None) -> Any:
    """The length: of all numbers, of vectors along one dim, or of matrices along two."""
    array, where = as_floating(tensor), static_axes(axis)
    if where is None:
        flat = _vector_norm(array.reshape(-1), ord, 0, False)
        return flat.reshape((1,) * array.ndim) if keepdims else flat
    if isinstance(where, int) or len(where) == 1:
        return _vector_norm(array, ord, where if isinstance(where, int) else where[0], bool(keepdims))
    return jnp.linalg.norm(array, "fro" if ord == "euclidean" else ord, where, bool(keepdims))


@op
def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None) -> Any:
    """The tensor divided by its norm, and the norm."""
    array = as_floating(tensor)
    length = norm(array, ord, axis, keepdims=True)
    return array / length, length


@op
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, dim: Any = None) -> Any:
    """Divided by the length along ``axis``."""
    array, where = as_floating(x), static_axes(axis if dim is None else dim)
    total = jnp.sum(jnp.square(jnp.abs(array)), where, keepdims=True)
    return array * jax.lax.rsqrt(jnp.maximum(total, epsilon)).astype(array.dtype)


@op
def global_norm(t_list: Any) -> Any:
    """The length of all tensors of a list together; None among them counts nothing."""
    arrays = [as_floating(each) for each in t_list if each is not None]
    return jnp.sqrt(sum((jnp.sum(jnp.square(array)) for array in arrays), start=jnp.zeros(())))


def _vector_norm(array: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    if ord in ("euclidean", "fro"):
        ord = 2
    return jnp.linalg.norm(array, ord, axis, keepdims)
