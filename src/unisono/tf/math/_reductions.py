"""Reductions along dims, `argmax` and `argmin`, and cumulative sums and products."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._dtypes import as_dtype, extreme_of_nothing
from unisono.tf._op import op
from unisono.tf._operands import as_floating, jax_dtype_or, static_axes, static_int
from unisono.tf._tensors import as_array


@op
def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum along ``axis``; of all values if it is None.

    >>> reduce_sum([[1, 2], [3, 4]], axis=0).tolist()
    [4, 6]
    """
    array = as_array(input_tensor)
    return jnp.sum(array, static_axes(axis), dtype=array.dtype, keepdims=keepdims)


@op
def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean along ``axis``. The mean of integers is an integer, as in TensorFlow."""
    array = as_array(input_tensor)
    if not jnp.issubdtype(array.dtype, jnp.integer):
        return jnp.mean(array, static_axes(axis), keepdims=keepdims)
    total = jnp.sum(array, static_axes(axis), dtype=array.dtype, keepdims=keepdims)
    count = array.size // max(total.size, 1)
    return (jnp.sign(total) * (jnp.abs(total) // max(count, 1))).astype(array.dtype)


@op
def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product along ``axis``."""
    array = as_array(input_tensor)
    return jnp.prod(array, static_axes(axis), dtype=array.dtype, keepdims=keepdims)


@op
def reduce_max(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The maximum along ``axis``; of no elements, the smallest value of the dtype."""
    array = as_array(input_tensor)
    initial = extreme_of_nothing(array.dtype, is_minimum=False) if array.size == 0 else None
    return jnp.max(array, static_axes(axis), keepdims=keepdims, initial=initial)


@op
def reduce_min(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The minimum along ``axis``; of no elements, the largest value of the dtype."""
    array = as_array(input_tensor)
    initial = extreme_of_nothing(array.dtype, is_minimum=True) if array.size == 0 else None
    return jnp.min(array, static_axes(axis), keepdims=keepdims, initial=initial)


@op
def reduce_all(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all elements along ``axis`` are true."""
    return jnp.all(as_array(input_tensor), static_axes(axis), keepdims=keepdims)


@op
def reduce_any(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether any element along ``axis`` is true."""
    return jnp.any(as_array(input_tensor), static_axes(axis), keepdims=keepdims)


@op
def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The population variance along ``axis``."""
    return jnp.var(as_floating(input_tensor), static_axes(axis), keepdims=keepdims)


@op
def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The population standard deviation along ``axis``."""
    return jnp.std(as_floating(input_tensor), static_axes(axis), keepdims=keepdims)


@op
def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`log(sum(exp(x)))` along ``axis``."""
    return jax.nn.logsumexp(as_floating(input_tensor), static_axes(axis), keepdims=keepdims)


@op
def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The square root of the sum of squares along ``axis``."""
    array = as_array(input_tensor)
    return jnp.sqrt(jnp.sum(jnp.square(as_floating(array)), static_axes(axis), keepdims=keepdims)).astype(array.dtype)


@op
def count_nonzero(input: Any, axis: Any = None, keepdims: bool | None = None, dtype: Any = "int64") -> Any:
    """Counts the elements along ``axis`` that are not 0."""
    counts = jnp.count_nonzero(as_array(input), static_axes(axis), keepdims=bool(keepdims))
    return counts.astype(jax_dtype_or(dtype, "int64"))


@op
def zero_fraction(value: Any) -> Any:
    """The fraction of elements that are 0."""
    return jnp.mean((as_array(value) == 0).astype(jnp.float32))


@op
def argmax(input: Any, axis: Any = None, output_type: Any = "int64") -> Any:
    """The index of the largest value along ``axis``; along the first dim if it is None.

    >>> argmax([[1, 5, 2], [7, 0, 1]], axis=1).tolist()
    [1, 0]
    """
    return jnp.argmax(as_array(input), 0 if axis is None else static_int(axis)).astype(
        jax_dtype_or(output_type, "int64")
    )


@op
def argmin(input: Any, axis: Any = None, output_type: Any = "int64") -> Any:
    """The index of the smallest value along ``axis``; along the first dim if it is None."""
    return jnp.argmin(as_array(input), 0 if axis is None else static_int(axis)).astype(
        jax_dtype_or(output_type, "int64")
    )


@op
def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """Cumulative sums; ``exclusive`` leaves out the element itself; ``reverse`` starts at the end."""
    return _accumulate(jax.lax.cumsum, as_array(x), axis, exclusive, reverse, 0)


@op
def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """Cumulative products; ``exclusive`` leaves out the element itself; ``reverse`` starts at the end."""
    return _accumulate(jax.lax.cumprod, as_array(x), axis, exclusive, reverse, 1)


@op
def cumulative_logsumexp(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """`log(cumsum(exp(x)))`."""
    array = as_floating(x)
    return _accumulate(jax.lax.cumlogsumexp, array, axis, exclusive, reverse, as_dtype(array.dtype).min)


def _accumulate(function: Any, array: Any, axis: Any, exclusive: bool, reverse: bool, initial: Any) -> Any:
    axis = static_int(axis) % array.ndim
    total = function(array, axis=axis, reverse=reverse)
    if not exclusive or array.shape[axis] == 0:
        return total
    # Shifted by one element; the first one is the value of an empty sum or product.
    start = jnp.full_like(jax.lax.slice_in_dim(array, 0, 1, axis=axis), initial)
    if reverse:
        return jnp.concatenate([jax.lax.slice_in_dim(total, 1, None, axis=axis), start], axis)
    return jnp.concatenate([start, jax.lax.slice_in_dim(total, 0, array.shape[axis] - 1, axis=axis)], axis)
