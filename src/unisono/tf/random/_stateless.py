"""Random functions of a seed of two integers: the same numbers at every call, on every device, in every run."""

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
    sample_binomial,
    sample_categorical,
    sample_full_int,
    sample_gamma,
    sample_normal,
    sample_poisson,
    sample_truncated_normal,
    sample_uniform,
)
from unisono.tf.random._seed_generators import key_from_pair


@op_without_folding
def stateless_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", alg: Any = "auto_select"
) -> Any:
    """Samples from a normal distribution."""
    return sample_normal(_key_from_seed(seed), shape, mean, stddev, dtype)


@op_without_folding
def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", alg: Any = "auto_select"
) -> Any:
    """Samples from a normal distribution truncated at two standard deviations from the mean."""
    return sample_truncated_normal(_key_from_seed(seed), shape, mean, stddev, dtype)


@op_without_folding
def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", alg: Any = "auto_select"
) -> Any:
    """Samples uniformly from [minval, maxval); integers from the full range of the dtype if both are None."""
    if minval is None and maxval is None and jnp.issubdtype(to_jax_dtype(dtype), jnp.integer):
        return sample_full_int(_key_from_seed(seed), shape, dtype)
    return sample_uniform(_key_from_seed(seed), shape, minval, maxval, dtype, "tf.random.stateless_uniform")


@op_without_folding
def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = "int64", alg: Any = "auto_select"
) -> Any:
    """Samples ``num_samples`` class indices for each row of unnormalized log-probabilities."""
    return sample_categorical(_key_from_seed(seed), logits, num_samples, dtype)


@op_without_folding
def stateless_gamma(
    shape: Any, seed: Any, alpha: Any, beta: Any = None, dtype: Any = "float32", alg: Any = "auto_select"
) -> Any:
    """Samples from gamma distributions; the parameters broadcast to ``shape``."""
    return sample_gamma(_key_from_seed(seed), shape, alpha, beta, dtype, per_parameter=False)


@op_without_folding
def stateless_poisson(shape: Any, seed: Any, lam: Any, dtype: Any = "int32", alg: Any = "auto_select") -> Any:
    """Samples from Poisson distributions; ``lam`` broadcasts to ``shape``."""
    return sample_poisson(_key_from_seed(seed), shape, lam, dtype, per_parameter=False)


@op_without_folding
def stateless_binomial(
    shape: Any, seed: Any, counts: Any, probs: Any, output_dtype: Any = "int32", alg: Any = "auto_select"
) -> Any:
    """Samples from binomial distributions; the parameters broadcast to ``shape``."""
    return sample_binomial(_key_from_seed(seed), shape, counts, probs, output_dtype)


@op_without_folding
def stateless_shuffle(value: Any, seed: Any, alg: Any = "auto_select") -> Any:
    """Shuffles the rows."""
    return jax.random.permutation(_key_from_seed(seed), as_array(value))


@op_without_folding
def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Any:
    """Returns ``num`` seeds derived from one."""
    return _keys_to_seeds(jax.random.split(_key_from_seed(seed), static_int(num)), seed)


@op_without_folding
def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Any:
    """Returns a seed derived from a seed and a number."""
    return _keys_to_seeds(jax.random.fold_in(_key_from_seed(seed), as_array(data).astype(jnp.uint32)), seed)


def _key_from_seed(seed: Any) -> Any:
    pair = as_array(seed)
    if tuple(pair.shape) != (2,):
        raise ValueError(f"seed has the shape {tuple(pair.shape)}. Expected two integers, for example seed=[1, 2].")
    return key_from_pair(pair)


def _keys_to_seeds(keys: Any, seed: Any) -> Any:
    """Returns keys as pairs of integers in the dtype of ``seed``, or int32 if that does not have 32 bits."""
    dtype = np.dtype(as_array(seed).dtype)
    return jax.lax.bitcast_convert_type(jax.random.key_data(keys), dtype if dtype.itemsize == 4 else np.int32)
