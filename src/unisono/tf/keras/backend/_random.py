"""Random numbers."""

from __future__ import annotations

from typing import Any

from keras import ops

from unisono.tf import nn, random
from unisono.tf.keras.backend._dtypes import float_name


def random_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Numbers of the normal distribution."""
    return random.normal(shape, mean, stddev, dtype=float_name(dtype), seed=seed)


def random_uniform(
    shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Numbers of the uniform distribution."""
    return random.uniform(shape, minval, maxval, dtype=float_name(dtype), seed=seed)


def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: int | None = None
) -> Any:
    """Numbers of the normal distribution that are not too far from its mean."""
    return random.truncated_normal(shape, mean, stddev, dtype=float_name(dtype), seed=seed)


def random_bernoulli(shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None) -> Any:
    """Ones with probability ``p``, else zeros."""
    return ops.cast(random.uniform(shape, seed=seed) < p, float_name(dtype))


def dropout(x: Any, level: float, noise_shape: Any = None, seed: int | None = None) -> Any:
    """Sets a share of ``level`` to zero, and scales the rest up."""
    return nn.dropout(x, level, noise_shape=noise_shape, seed=seed)
