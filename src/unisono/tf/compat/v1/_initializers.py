"""Initializers of TensorFlow 1: Keras's, with TensorFlow 1's names and default values."""

from __future__ import annotations

from typing import Any

import keras

from unisono.tf._dtypes import to_jax_dtype


def random_normal_initializer(mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = None) -> Any:
    """Normally distributed numbers; the default of ``stddev`` is 1, in Keras 0.05."""
    return _Initializer(keras.initializers.RandomNormal(mean, stddev, seed), dtype)


def truncated_normal_initializer(mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = None) -> Any:
    """Normally distributed numbers within two standard deviations."""
    return _Initializer(keras.initializers.TruncatedNormal(mean, stddev, seed), dtype)


def random_uniform_initializer(minval: Any = 0.0, maxval: Any = None, seed: Any = None, dtype: Any = None) -> Any:
    """Uniformly distributed numbers; by default between 0 and 1."""
    return _Initializer(keras.initializers.RandomUniform(minval, 1.0 if maxval is None else maxval, seed), dtype)


def constant_initializer(value: Any = 0, dtype: Any = None, verify_shape: bool = False) -> Any:
    """One value, or an array in the shape of the variable."""
    return _Initializer(keras.initializers.Constant(value), dtype)


def zeros_initializer(dtype: Any = None) -> Any:
    """Zeros."""
    return _Initializer(keras.initializers.Zeros(), dtype)


def ones_initializer(dtype: Any = None) -> Any:
    """Ones."""
    return _Initializer(keras.initializers.Ones(), dtype)


def orthogonal_initializer(gain: float = 1.0, seed: Any = None, dtype: Any = None) -> Any:
    """Orthogonal matrices."""
    return _Initializer(keras.initializers.Orthogonal(gain, seed), dtype)


def glorot_uniform_initializer(seed: Any = None, dtype: Any = None) -> Any:
    """Glorot's initializer, uniformly distributed."""
    return _Initializer(keras.initializers.GlorotUniform(seed), dtype)


def glorot_normal_initializer(seed: Any = None, dtype: Any = None) -> Any:
    """Glorot's initializer, normally distributed."""
    return _Initializer(keras.initializers.GlorotNormal(seed), dtype)


def he_normal(seed: Any = None) -> Any:
    """He's initializer, normally distributed."""
    return _Initializer(keras.initializers.HeNormal(seed), None)


def he_uniform(seed: Any = None) -> Any:
    """He's initializer, uniformly distributed."""
    return _Initializer(keras.initializers.HeUniform(seed), None)


def lecun_normal(seed: Any = None) -> Any:
    """LeCun's initializer, normally distributed."""
    return _Initializer(keras.initializers.LecunNormal(seed), None)


def lecun_uniform(seed: Any = None) -> Any:
    """LeCun's initializer, uniformly distributed."""
    return _Initializer(keras.initializers.LecunUniform(seed), None)


def identity(gain: float = 1.0, dtype: Any = None) -> Any:
    """An identity matrix times ``gain``."""
    return _Initializer(keras.initializers.Identity(gain), dtype)


def variance_scaling_initializer(
    scale: float = 1.0,
    mode: str = "fan_in",
    distribution: str = "truncated_normal",
    seed: Any = None,
    dtype: Any = None,
) -> Any:
    """Numbers whose variance depends on the shape."""
    kind = "truncated_normal" if distribution == "normal" else distribution
    return _Initializer(keras.initializers.VarianceScaling(scale, mode, kind, seed), dtype)


class _Initializer(keras.initializers.Initializer):
    """An initializer of Keras with a dtype of its own."""

    def __init__(self, initializer: Any, dtype: Any) -> None:
        self._initializer, self._dtype = initializer, dtype

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, **_: Any) -> Any:
        wanted = self._dtype if dtype is None else dtype
        return self._initializer(tuple(shape), dtype=None if wanted is None else str(to_jax_dtype(wanted)))

    def get_config(self) -> Any:
        return self._initializer.get_config()

    def __reduce__(self) -> Any:
        return type(self), (self._initializer, self._dtype)
