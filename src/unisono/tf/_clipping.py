"""`tf.clip_by_value`, `tf.clip_by_norm`, `tf.clip_by_global_norm`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import as_floating, static_axes
from unisono.tf._tensors import as_array
from unisono.tf.linalg._norms import global_norm
from unisono.tf.math import _tie_gradients as ties


@op
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Clips every number to the two bounds.

    >>> clip_by_value([1, 5, 9], 2, 8).tolist()
    [2, 5, 8]
    """
    array = as_array(t)
    below = ties.minimum(array, as_array(clip_value_max, array.dtype))
    return ties.maximum(below, as_array(clip_value_min, array.dtype))


@op
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Any:
    """Scales the tensor so that its norm along these dims is at most ``clip_norm``."""
    array = as_floating(t)
    total = jnp.sum(jnp.square(array), static_axes(axes), keepdims=True)
    norm = jnp.where(total > 0, jnp.sqrt(jnp.where(total > 0, total, 1)), total)
    bound = as_array(clip_norm, array.dtype)
    return array * bound / ties.maximum(norm, bound)


@op
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None) -> Any:
    """Scales a list of tensors so that their global norm is at most ``clip_norm``; also returns the norm before."""
    norm = global_norm(t_list) if use_norm is None else as_floating(use_norm)
    bound = jnp.asarray(clip_norm, norm.dtype)
    # A norm that is not finite makes every result NaN, so that it is noticed.
    factor = bound * jnp.minimum(1 / norm, 1 / bound) + (norm - norm)
    return [None if each is None else (as_array(each) * factor).astype(as_array(each).dtype) for each in t_list], norm
