"""Random numbers that are others at every call."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from unisono.tf._op import making
from unisono.tf._operands import text_or_array
from unisono.tf._tensors import on_host
from unisono.tf.random._distributions import (
    categorical_of,
    gamma_of,
    normal_of,
    poisson_of,
    truncated_normal_of,
    uniform_of,
)
from unisono.tf.random._seeds import key_for


@making
def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None) -> Any:
    """Numbers of a normal distribution.

    >>> normal([2, 3]).shape
    TensorShape([2, 3])
    """
    return normal_of(key_for(seed), shape, mean, stddev, dtype)


@making
def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None) -> Any:
    """Numbers of a normal distribution, none further from the mean than two deviations."""
    return truncated_normal_of(key_for(seed), shape, mean, stddev, dtype)


@making
def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", seed: Any = None) -> Any:
    """Numbers from ``minval`` to below ``maxval``, all as likely; whole ones if the dtype is."""
    return uniform_of(key_for(seed), shape, minval, maxval, dtype, "tf.random.uniform")


@making
def gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = "float32", seed: Any = None) -> Any:
    """Numbers of gamma distributions: ``shape`` of them for each parameter."""
    return gamma_of(key_for(seed), shape, alpha, beta, dtype)


@making
def poisson(shape: Any, lam: Any, dtype: Any = "float32", seed: Any = None) -> Any:
    """Counts of Poisson distributions: ``shape`` of them for each parameter."""
    return poisson_of(key_for(seed), shape, lam, dtype)


@making
def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None) -> Any:
    """Class numbers: so many for each row of unnormalised logarithms of probabilities."""
    return categorical_of(key_for(seed), logits, num_samples, dtype)


@making
def shuffle(value: Any, seed: Any = None) -> Any:
    """The rows in another order."""
    rows = text_or_array(value)
    if isinstance(rows, np.ndarray):
        return on_host(rows[np.asarray(jax.random.permutation(key_for(seed), len(rows)))])
    return jax.random.permutation(key_for(seed), rows)
