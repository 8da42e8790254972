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
    samples = jax.random.normal(key, static_shape(shape), jax_dtype)
    return as_array(mean, jax_dtype) + as_array(stddev, jax_dtype) * samples


def sample_truncated_normal(key: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    """Samples from a normal distribution truncated at two standard deviations from the mean."""
    jax_dtype = to_jax_dtype(dtype)
    samples = jax.random.truncated_normal(key, -2.0, 2.0, static_shape(shape), jax_dtype)
    return as_array(mean, jax_dtype) + as_array(stddev, jax_dtype) * samples


def sample_uniform(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any, name: str) -> Any:
    """Samples uniformly from [minval, maxval); integers if the dtype is an integer dtype."""
    jax_dtype = to_jax_dtype(dtype)
    is_integer = jnp.issubdtype(jax_dtype, jnp.integer)
    if is_integer and maxval is None:
        raise ValueError(NEEDS_MAXVAL.format(name=name))
    low = as_array(0 if minval is None else minval, jax_dtype)
    high = as_array(1 if maxval is None else maxval, jax_dtype)
    if is_integer:
        return jax.random.randint(key, static_shape(shape), low, high, jax_dtype)
    return low + (high - low) * jax.random.uniform(key, static_shape(shape), jax_dtype)


def sample_full_int(key: Any, shape: Any, dtype: Any) -> Any:
    """Samples integers from the full range of the dtype."""
    jax_dtype = to_jax_dtype(dtype)
    unsigned = np.dtype(f"uint{8 * jax_dtype.itemsize}")
    return jax.lax.bitcast_convert_type(jax.random.bits(key, static_shape(shape), unsigned), jax_dtype)


def sample_gamma(key: Any, shape: Any, alpha: Any, beta: Any, dtype: Any, *, per_parameter: bool) -> Any:
    """Samples from gamma distributions; ``per_parameter`` as in :func:`_result_shape`."""
    jax_dtype = to_jax_dtype(dtype)
    alpha, beta = as_array(alpha, jax_dtype), as_array(1 if beta is None else beta, jax_dtype)
    alpha = jnp.broadcast_to(alpha, _result_shape(shape, per_parameter, alpha, beta))
    return jax.random.gamma(key, alpha, dtype=jax_dtype) / beta


def sample_poisson(key: Any, shape: Any, lam: Any, dtype: Any, *, per_parameter: bool) -> Any:
    """Samples from Poisson distributions; ``per_parameter`` as in :func:`_result_shape`."""
    lam = as_array(lam)
    return jax.random.poisson(key, lam, _result_shape(shape, per_parameter, lam)).astype(to_jax_dtype(dtype))


def sample_binomial(key: Any, shape: Any, counts: Any, probs: Any, dtype: Any) -> Any:
    """Samples from binomial distributions; the parameters broadcast to ``shape``."""
    counts, probs = as_array(counts).astype(jnp.float32), as_array(probs).astype(jnp.float32)
    samples = jax.random.binomial(key, counts, probs, _result_shape(shape, False, counts, probs))
    return samples.astype(to_jax_dtype(dtype))


def sample_categorical(key: Any, logits: Any, num_samples: Any, dtype: Any) -> Any:
    """Samples ``num_samples`` class indices for each row of unnormalized log-probabilities."""
    scores = as_array(logits)
    (count,) = static_shape(num_samples)
    samples = jax.random.categorical(key, scores, -1, (count, scores.shape[0]))
    return samples.T.astype(to_jax_dtype("int64" if dtype is None else dtype))


def _result_shape(shape: Any, per_parameter: bool, *parameters: Any) -> tuple[int, ...]:
    """Returns ``shape`` followed by the shape of the parameters if ``per_parameter``, else the two broadcast."""
    outer, inner = static_shape(shape), np.broadcast_shapes(*(tuple(parameter.shape) for parameter in parameters))
    return (*outer, *inner) if per_parameter else tuple(np.broadcast_shapes(outer, inner))
