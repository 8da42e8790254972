"""Random numbers and dropout."""

from __future__ import annotations

from typing import Any

from keras import ops

from unisono.tf import nn, random
from unisono.tf.keras.backend._values import float_dtype_name, variable


def random_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Normally distributed numbers."""
    return random.normal(shape, mean, stddev, dtype=float_dtype_name(dtype), seed=seed)


def random_uniform(
    shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Uniformly distributed numbers."""
    return random.uniform(shape, minval, maxval, dtype=float_dtype_name(dtype), seed=seed)


def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Normally distributed numbers within two standard deviations of the mean."""
    return random.truncated_normal(shape, mean, stddev, dtype=float_dtype_name(dtype), seed=seed)


def random_bernoulli(shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None) -> Any:
    """Ones with probability ``p``, else zeros."""
    return ops.cast(random.uniform(shape, seed=seed) < p, float_dtype_name(dtype))


random_binomial = random_bernoulli


def random_normal_variable(
    shape: Any, mean: float, scale: float, dtype: Any = None, name: str | None = None, seed: int | None = None
) -> Any:
    """A variable of normally distributed numbers."""
    return variable(random_normal(shape, mean, scale, dtype, seed), dtype, name)


def random_uniform_variable(
    shape: Any, low: float, high: float, dtype: Any = None, name: str | None = None, seed: int | None = None
) -> Any:
    """A variable of uniformly distributed numbers."""
    return variable(random_uniform(shape, low, high, dtype, seed), dtype, name)


def dropout(x: Any, level: float, noise_shape: Any = None, seed: int | None = None) -> Any:
    """Sets the fraction ``level`` to zero, and scales up the rest."""
    return nn.dropout(x, level, noise_shape=noise_shape, seed=seed)
