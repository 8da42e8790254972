"""Random numbers of a key, with TensorFlow's arguments."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._dtypes import to_jax_dtype
from unisono.tf._operands import static_shape
from unisono.tf._tensors import as_array

NEEDS_MAXVAL = "{name}: whole numbers need maxval, one more than the largest: maxval=10, say."


def sample_normal(key: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    """Numbers of a normal distribution."""
    wanted = to_jax_dtype(dtype)
    return as_array(mean, wanted) + as_array(stddev, wanted) * jax.random.normal(key, static_shape(shape), wanted)


def sample_truncated_normal(key: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    """Numbers of a normal distribution, none further from the mean than two deviations."""
    wanted = to_jax_dtype(dtype)
    drawn = jax.random.truncated_normal(key, -2.0, 2.0, static_shape(shape), wanted)
    return as_array(mean, wanted) + as_array(stddev, wanted) * drawn


def sample_uniform(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any, name: str) -> Any:
    """Numbers from minval to below maxval, all as likely; whole ones if the dtype is."""
    wanted = to_jax_dtype(dtype)
    if jnp.issubdtype(wanted, jnp.integer):
        if maxval is None:
            raise ValueError(NEEDS_MAXVAL.format(name=name))
        low, high = as_array(0 if minval is None else minval, wanted), as_array(maxval, wanted)
        return jax.random.randint(key, static_shape(shape), low, high, wanted)
    low, high = as_array(0 if minval is None else minval, wanted), as_array(1 if maxval is None else maxval, wanted)
    drawn = jax.random.uniform(key, static_shape(shape), wanted)
    return low + (high - low) * drawn


def sample_full_int(key: Any, shape: Any, dtype: Any) -> Any:
    """Whole numbers of the whole range of the dtype."""
    wanted = to_jax_dtype(dtype)
    unsigned = np.dtype(f"uint{8 * wanted.itemsize}")
    return jax.lax.bitcast_convert_type(jax.random.bits(key, static_shape(shape), unsigned), wanted)


def sample_gamma(key: Any, shape: Any, alpha: Any, beta: Any, dtype: Any) -> Any:
    """Numbers of gamma distributions: ``shape`` of them all together, the parameters' dims last."""
    wanted = to_jax_dtype(dtype)
    alpha, beta = as_array(alpha, wanted), as_array(1 if beta is None else beta, wanted)
    return jax.random.gamma(key, jnp.broadcast_to(alpha, _sample_shape(shape, alpha, beta)), dtype=wanted) / beta


def sample_poisson(key: Any, shape: Any, lam: Any, dtype: Any) -> Any:
    """Counts of Poisson distributions."""
    lam = as_array(lam)
    return jax.random.poisson(key, lam, _sample_shape(shape, lam)).astype(to_jax_dtype(dtype))


def sample_binomial(key: Any, shape: Any, counts: Any, probs: Any, dtype: Any) -> Any:
    """How many of ``counts`` trials succeed."""
    counts, probs = as_array(counts).astype(jnp.float32), as_array(probs).astype(jnp.float32)
    return jax.random.binomial(key, counts, probs, static_shape(shape)).astype(to_jax_dtype(dtype))


def sample_categorical(key: Any, logits: Any, num_samples: Any, dtype: Any) -> Any:
    """Class numbers: so many for each row of unnormalised logarithms of probabilities."""
    scores = as_array(logits)
    (count,) = static_shape(num_samples)
    drawn = jax.random.categorical(key, scores, -1, (count, scores.shape[0]))
    return drawn.T.astype(to_jax_dtype("int64" if dtype is None else dtype))


def _sample_shape(shape: Any, *parameters: Any) -> tuple[int, ...]:
    inner = np.broadcast_shapes(*(tuple(parameter.shape) for parameter in parameters))
    return (*static_shape(shape), *inner)


def broadcast_shape(shape: Any, *parameters: Any) -> tuple[int, ...]:
    """The shape that was asked for, checked against that of the parameters."""
    return tuple(np.broadcast_shapes(static_shape(shape), *(tuple(parameter.shape) for parameter in parameters)))
