"""Random functions that return new numbers at every call."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from unisono.tf._op import op_without_folding
from unisono.tf._operands import as_text_or_array
from unisono.tf._tensors import to_host_tensor
from unisono.tf.random._sampling import (
    sample_categorical,
    sample_gamma,
    sample_normal,
    sample_poisson,
    sample_truncated_normal,
    sample_uniform,
)
from unisono.tf.random._seed_generators import next_key


@op_without_folding
def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None) -> Any:
    """Samples from a normal distribution.

    >>> normal([2, 3]).shape
    TensorShape([2, 3])
    """
    return sample_normal(next_key(seed), shape, mean, stddev, dtype)


@op_without_folding
def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None) -> Any:
    """Samples from a normal distribution truncated at two standard deviations from the mean."""
    return sample_truncated_normal(next_key(seed), shape, mean, stddev, dtype)


@op_without_folding
def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", seed: Any = None) -> Any:
    """Samples uniformly from [minval, maxval); integers if the dtype is an integer dtype."""
    return sample_uniform(next_key(seed), shape, minval, maxval, dtype, "tf.random.uniform")


@op_without_folding
def gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = "float32", seed: Any = None) -> Any:
    """Samples ``shape`` values from each of the gamma distributions."""
    return sample_gamma(next_key(seed), shape, alpha, beta, dtype, per_parameter=True)


@op_without_folding
def poisson(shape: Any, lam: Any, dtype: Any = "float32", seed: Any = None) -> Any:
    """Samples ``shape`` counts from each of the Poisson distributions."""
    return sample_poisson(next_key(seed), shape, lam, dtype, per_parameter=True)


@op_without_folding
def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None) -> Any:
    """Samples ``num_samples`` class indices for each row of unnormalized log-probabilities."""
    return sample_categorical(next_key(seed), logits, num_samples, dtype)


@op_without_folding
def shuffle(value: Any, seed: Any = None) -> Any:
    """Shuffles the rows."""
    rows = as_text_or_array(value)
    if isinstance(rows, np.ndarray):
        return to_host_tensor(rows[np.asarray(jax.random.permutation(next_key(seed), len(rows)))])
    return jax.random.permutation(next_key(seed), rows)
