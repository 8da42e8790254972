"""Hook: `BatchNormalization(synchronized=True)` takes its statistics over the rows of all replicas.

Checked against Keras 3.15.1: with JAX the layer's `__init__` and `backend.jax.nn.moments` refuse the argument. In the
global view of `fit` all rows are there anyway; with a mask, Keras itself does not synchronise.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import jax.numpy as jnp
import keras
from keras.src.backend import jax as keras_jax

from unisono._src.replicas import context


def synchronize_batch_norm() -> None:
    """Installs the hook."""
    original_init = keras.layers.BatchNormalization.__init__
    original_moments = keras_jax.nn.moments

    signature = inspect.signature(original_init)

    @functools.wraps(original_init)
    def init(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        synchronized = bound.arguments.pop("synchronized", False)
        original_init(*bound.args, **bound.kwargs)
        bound.arguments["self"].synchronized = synchronized

    init.__signature__ = signature  # type: ignore[attr-defined]  # Keras reads it in two ways that must agree

    @functools.wraps(original_moments)
    def moments(x: Any, axes: Any, keepdims: bool = False, synchronized: bool = False) -> tuple[Any, Any]:
        replica = context.current_replica()
        if not synchronized or replica is None or replica.axis is None:
            return original_moments(x, axes, keepdims=keepdims)  # type: ignore[no-any-return]
        # Statistics in float32, as Keras takes them: float16 cannot hold the squares.
        wide = x.astype("float32") if x.dtype.itemsize < 4 else x
        mean = replica.mean(jnp.mean(wide, axes, keepdims=True))
        variance = replica.mean(jnp.mean(jnp.square(wide - mean), axes, keepdims=True))
        if not keepdims:
            mean, variance = jnp.squeeze(mean, axes), jnp.squeeze(variance, axes)
        return mean.astype(x.dtype), variance.astype(x.dtype)

    keras.layers.BatchNormalization.__init__ = init
    keras_jax.nn.moments = moments
