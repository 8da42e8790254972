"""Numbers and gradients kept within bounds."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import as_floating
from unisono.tf._operands import static_axes as dims
from unisono.tf._tensors import as_array
from unisono.tf.linalg._norms import global_norm


@op
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Numbers from the one bound to the other.

    >>> clip_by_value([1, 5, 9], 2, 8).tolist()
    [2, 5, 8]
    """
    array = as_array(t)
    return jnp.clip(array, as_array(clip_value_min, array.dtype), as_array(clip_value_max, array.dtype))


@op
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Any:
    """The tensor, made no longer than ``clip_norm`` along these dims."""
    array = as_floating(t)
    total = jnp.sum(jnp.square(array), dims(axes), keepdims=True)
    length = jnp.where(total > 0, jnp.sqrt(jnp.where(total > 0, total, 1)), total)
    bound = as_array(clip_norm, array.dtype)
    return array * bound / jnp.maximum(length, bound)


@op
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None) -> Any:
    """The tensors of a list, together made no longer than ``clip_norm``, and the length that they had."""
    length = global_norm(t_list) if use_norm is None else as_floating(use_norm)
    bound = jnp.asarray(clip_norm, length.dtype)
    # What is not finite stays that: it shall be seen.
    factor = bound * jnp.minimum(1 / length, 1 / bound) + (length - length)
    return [None if each is None else (as_array(each) * factor).astype(as_array(each).dtype) for each in t_list], length
