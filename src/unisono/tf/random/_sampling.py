"""Sampling with a `jax.random` key and TensorFlow's arguments; used by stateful, stateless and generator functions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._dtypes import to_jax_dtype
from unisono.tf._operands import static_shape
from unisono.tf._tensors import as_array

NEEDS_MAXVAL = "{name}: maxval is None. Integer dtypes need an exclusive upper bound, for example maxval=10."


def sample_normal(key: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    """Samples from a normal distribution."""
    jax_dtype = to_jax_dtype(dtype)
    return as_array(mean, jax_dtype) + as_array(stddev, jax_dtype) * jax.random.normal(
        key, static_shape(shape), jax_dtype
    )


def sample_truncated_normal(key: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    """Samples from a normal distribution truncated at two standard deviations from the mean."""
    jax_dtype = to_jax_dtype(dtype)
    samples = jax.random.truncated_normal(key, -2.0, 2.0, static_shape(shape), jax_dtype)
    return as_array(mean, jax_dtype) + as_array(stddev, jax_dtype) * samples


def sample_uniform(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any, name: str) -> Any:
    """Samples uniformly from [minval, maxval); integers if the dtype is an integer dtype."""
    jax_dtype = to_jax_dtype(dtype)
    if jnp.issubdtype(jax_dtype, jnp.integer):
        if maxval is None:
            raise ValueError(NEEDS_MAXVAL.format(name=name))
        low, high = as_array(0 if minval is None else minval, jax_dtype), as_array(maxval, jax_dtype)
        return jax.random.randint(key, static_shape(shape), low, high, jax_dtype)
    low, high = (
        as_array(0 if minval is None else minval, jax_dtype),
        as_array(1 if maxval is None else maxval, jax_dtype),
    )
    samples = jax.random.uniform(key, static_shape(shape), jax_dtype)
    return low + (high - low) * samples


def sample_full_int(key: Any, shape: Any, dtype: Any) -> Any:
    """Samples integers from the full range of the dtype."""
    jax_dtype = to_jax_dtype(dtype)
    unsigned = np.dtype(f"uint{8 * jax_dtype.itemsize}")
    return jax.lax.bitcast_convert_type(jax.random.bits(key, static_shape(shape), unsigned), jax_dtype)


def sample_gamma(key: Any, shape: Any, alpha: Any, beta: Any, dtype: Any) -> Any:
    """Samples from gamma distributions. The result's shape is ``shape`` followed by the shape of the parameters."""
    jax_dtype = to_jax_dtype(dtype)
    alpha, beta = as_array(alpha, jax_dtype), as_array(1 if beta is None else beta, jax_dtype)
    return jax.random.gamma(key, jnp.broadcast_to(alpha, _sample_shape(shape, alpha, beta)), dtype=jax_dtype) / beta


def sample_poisson(key: Any, shape: Any, lam: Any, dtype: Any) -> Any:
    """Samples from Poisson distributions. The result's shape is ``shape`` followed by the shape of ``lam``."""
    lam = as_array(lam)
    return jax.random.poisson(key, lam, _sample_shape(shape, lam)).astype(to_jax_dtype(dtype))


def sample_binomial(key: Any, shape: Any, counts: Any, probs: Any, dtype: Any) -> Any:
    """Samples from binomial distributions."""
    counts, probs = as_array(counts).astype(jnp.float32), as_array(probs).astype(jnp.float32)
    return jax.random.binomial(key, counts, probs, static_shape(shape)).astype(to_jax_dtype(dtype))


def sample_categorical(key: Any, logits: Any, num_samples: Any, dtype: Any) -> Any:
    """Samples ``num_samples`` class indices for each row of unnormalized log-probabilities."""
    scores = as_array(logits)
    (count,) = static_shape(num_samples)
    samples = jax.random.categorical(key, scores, -1, (count, scores.shape[0]))
    return samples.T.astype(to_jax_dtype("int64" if dtype is None else dtype))


def _sample_shape(shape: Any, *parameters: Any) -> tuple[int, ...]:
    inner = np.broadcast_shapes(*(tuple(parameter.shape) for parameter in parameters))
    return (*static_shape(shape), *inner)


def broadcast_shape(shape: Any, *parameters: Any) -> tuple[int, ...]:
    """Returns ``shape`` as a tuple, broadcast against the shapes of the parameters."""
    return tuple(np.broadcast_shapes(static_shape(shape), *(tuple(parameter.shape) for parameter in parameters)))
