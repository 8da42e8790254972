"""Computations of layers: bias, moments, normalization, embedding lookup, dropout."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._op import op, op_without_folding
from unisono.tf._operands import as_floating, convert_operands, hide_negative, static_shape
from unisono.tf._operands import static_axes as dims
from unisono.tf._tensors import as_array
from unisono.tf.random._seed_generators import next_key


@op
def bias_add(value: Any, bias: Any, data_format: Any = None) -> Any:
    """Adds a bias to each channel. Channels are the last dim, or the second one for formats such as "NCHW"."""
    array, bias = convert_operands(value, bias)
    if data_format is not None and data_format.upper().startswith("NC"):
        bias = bias.reshape(-1, *[1] * (array.ndim - 2))
    return array + bias


@op
def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False) -> Any:
    """The mean and the variance along ``axes``."""
    array, reduced = as_floating(x), dims(axes)
    return jnp.mean(array, reduced, keepdims=keepdims), jnp.var(array, reduced, keepdims=keepdims)


@op
def weighted_moments(x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False) -> Any:
    """The weighted mean and variance along ``axes``."""
    array, weights = convert_operands(x, frequency_weights)
    reduced = dims(axes)
    weights = jnp.broadcast_to(weights, array.shape)
    total = jnp.sum(weights, reduced, keepdims=True)
    mean = jnp.sum(array * weights, reduced, keepdims=True) / total
    variance = jnp.sum(jnp.square(array - mean) * weights, reduced, keepdims=True) / total
    return (mean, variance) if keepdims else (jnp.squeeze(mean, reduced), jnp.squeeze(variance, reduced))


@op
def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any) -> Any:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`."""
    array = as_floating(x)
    factor = jax.lax.rsqrt(as_array(variance) + variance_epsilon)
    if scale is not None:
        factor = factor * as_array(scale)
    shift = -as_array(mean) * factor
    if offset is not None:
        shift = as_array(offset) + shift
    return (array * factor + shift).astype(array.dtype)


@op
def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5
) -> Any:
    """`x / (bias + alpha * sum of squares over the nearby channels) ** beta`."""
    array = as_floating(input)
    window = (1,) * (array.ndim - 1) + (2 * depth_radius + 1,)
    padding = [(0, 0)] * (array.ndim - 1) + [(depth_radius, depth_radius)]
    squares = jax.lax.reduce_window(
        jnp.square(array), jnp.zeros((), array.dtype), jax.lax.add, window, (1,) * array.ndim, padding
    )
    return array / (bias + alpha * squares) ** beta


@op
def embedding_lookup(params: Any, ids: Any, max_norm: Any = None) -> Any:
    """Rows of ``params`` by index, scaled down to ``max_norm`` if it is given; zeros for an index out of range."""
    rows = jnp.take(as_array(params), hide_negative(ids), 0, mode="fill", fill_value=0)
    if max_norm is None:
        return rows
    norms = jnp.sqrt(jnp.sum(jnp.square(rows), -1, keepdims=True))
    return rows * (max_norm / jnp.maximum(norms, max_norm))


@op_without_folding
def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None) -> Any:
    """Sets elements to 0 with probability ``rate`` and divides the rest by `1 - rate`, which keeps the expected sum."""
    array = as_floating(x)
    shape = tuple(array.shape)
    if noise_shape is not None:
        noise_dims = noise_shape if not isinstance(noise_shape, jax.Array) else static_shape(noise_shape)
        shape = tuple(full if size is None else int(size) for size, full in zip(noise_dims, shape, strict=True))
    if isinstance(rate, int | float):
        if not 0 <= rate < 1:
            raise ValueError(f"tf.nn.dropout: rate is {rate}. Expected 0 <= rate < 1.")
        if rate == 0:
            return array
    is_kept = jax.random.uniform(next_key(seed), shape, jnp.float32) >= as_array(rate)
    return jnp.where(is_kept, array / (1 - as_array(rate, array.dtype)), jnp.zeros((), array.dtype))


@op
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any = None,
    combiner: Any = None,
    max_norm: Any = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """For each row of ids, sparse or ragged, the sum or mean of the rows of ``params``, weighted if there are weights.

    Args:
        params: the table.
        sp_ids: ids of rows.
        sp_weights: a weight for each id; 1 if None.
        combiner: "mean", the default, "sqrtn" or "sum".
        max_norm: the largest norm of a row of ``params``; longer ones are scaled down.
        allow_fast_lookup: accepted, without effect.
    """
    raise TypeError("tf.nn.embedding_lookup_sparse: expected a SparseTensor or a RaggedTensor of ids.")
