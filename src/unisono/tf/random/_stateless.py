"""Random numbers that follow from a seed of two numbers: the same at every call, on every device, in every run."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._dtypes import to_jax_dtype
from unisono.tf._op import op_without_folding
from unisono.tf._operands import static_int
from unisono.tf._tensors import as_array
from unisono.tf.random._sampling import (
    broadcast_shape,
    sample_categorical,
    sample_full_int,
    sample_normal,
    sample_truncated_normal,
    sample_uniform,
)
from unisono.tf.random._seed_generators import key_from_pair


def _key(seed: Any) -> Any:
    pair = as_array(seed)
    if tuple(pair.shape) != (2,):
        raise ValueError(f"seed has the shape {tuple(pair.shape)}. Expected two whole numbers: seed=[1, 2], say.")
    return key_from_pair(pair)


@op_without_folding
def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    alg: Any = "auto_select",
) -> Any:
    """Numbers of a normal distribution."""
    return sample_normal(_key(seed), shape, mean, stddev, dtype)


@op_without_folding
def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    alg: Any = "auto_select",
) -> Any:
    """Numbers of a normal distribution, none further from the mean than two deviations."""
    return sample_truncated_normal(_key(seed), shape, mean, stddev, dtype)


@op_without_folding
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = "float32",
    alg: Any = "auto_select",
) -> Any:
    """Numbers from ``minval`` to below ``maxval``; whole ones of the whole range if both are None."""
    if minval is None and maxval is None and jnp.issubdtype(to_jax_dtype(dtype), jnp.integer):
        return sample_full_int(_key(seed), shape, dtype)
    return sample_uniform(_key(seed), shape, minval, maxval, dtype, "tf.random.stateless_uniform")


@op_without_folding
def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = "int64", alg: Any = "auto_select"
) -> Any:
    """Class numbers: so many for each row of unnormalised logarithms of probabilities."""
    return sample_categorical(_key(seed), logits, num_samples, dtype)


@op_without_folding
def stateless_gamma(
    shape: Any, seed: Any, alpha: Any, beta: Any = None, dtype: Any = "float32", alg: Any = "auto_select"
) -> Any:
    """Numbers of gamma distributions, all together in ``shape``."""
    wanted = to_jax_dtype(dtype)
    alpha, beta = as_array(alpha, wanted), as_array(1 if beta is None else beta, wanted)
    drawn = jax.random.gamma(_key(seed), jnp.broadcast_to(alpha, broadcast_shape(shape, alpha, beta)), dtype=wanted)
    return drawn / beta


@op_without_folding
def stateless_poisson(shape: Any, seed: Any, lam: Any, dtype: Any = "int32", alg: Any = "auto_select") -> Any:
    """Counts of Poisson distributions, all together in ``shape``."""
    lam = as_array(lam)
    return jax.random.poisson(_key(seed), lam, broadcast_shape(shape, lam)).astype(to_jax_dtype(dtype))


@op_without_folding
def stateless_binomial(
    shape: Any, seed: Any, counts: Any, probs: Any, output_dtype: Any = "int32", alg: Any = "auto_select"
) -> Any:
    """How many of ``counts`` trials succeed."""
    counts, probs = as_array(counts).astype(jnp.float32), as_array(probs).astype(jnp.float32)
    drawn = jax.random.binomial(_key(seed), counts, probs, broadcast_shape(shape, counts, probs))
    return drawn.astype(to_jax_dtype(output_dtype))


@op_without_folding
def stateless_shuffle(value: Any, seed: Any, alg: Any = "auto_select") -> Any:
    """The rows in another order."""
    return jax.random.permutation(_key(seed), as_array(value))


@op_without_folding
def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Any:
    """So many seeds made of one."""
    return _pairs(jax.random.split(_key(seed), static_int(num)), seed)


@op_without_folding
def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Any:
    """A seed made of a seed and a number."""
    return _pairs(jax.random.fold_in(_key(seed), as_array(data).astype(jnp.uint32)), seed)


def _pairs(keys: Any, seed: Any) -> Any:
    given = as_array(seed).dtype
    wanted = given if np.dtype(given).itemsize == 4 else np.dtype(np.int32)
    return jax.lax.bitcast_convert_type(jax.random.key_data(keys), wanted)
