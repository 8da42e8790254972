"""Hook: `BatchNormalization(synchronized=True)` takes its statistics over the rows of all replicas.

Checked against Keras 3.15.1: with JAX the layer's `__init__` and `backend.nn.moments` refuse the argument. In the
global view of `fit` all rows are there anyway; with a mask, Keras itself does not synchronise.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import jax.numpy as jnp
import keras
from keras.src import backend
from keras.src.ops import nn

from unisono._src import hooks
from unisono._src.replicas import context


def install_synchronized_batch_norm() -> None:
    """Installs the hook."""
    why = "BatchNormalization(synchronized=True) takes its statistics over all replicas"
    hooks.wrap(keras.layers.BatchNormalization, "__init__", _accept_synchronized, expects=_INIT, why=why)
    hooks.require(nn, "moments", expects="calls backend.nn.moments", why=why)
    hooks.wrap(
        backend.nn,
        "moments",
        _moments_over_replicas,
        expects="(x, axes, keepdims=False, synchronized=False)",
        why=why,
    )


_INIT = (
    "(self, axis=-1, momentum=0.99, epsilon=0.001, center=True, scale=True, beta_initializer='zeros', "
    "gamma_initializer='ones', moving_mean_initializer='zeros', moving_variance_initializer='ones', "
    "beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, renorm=False, "
    "renorm_clipping=None, renorm_momentum=0.99, synchronized=False, **kwargs)"
)


def _accept_synchronized(original: Any) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def init(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        synchronized = bound.arguments.pop("synchronized", False)
        original(*bound.args, **bound.kwargs)
        bound.arguments["self"].synchronized = synchronized

    init.__signature__ = signature  # type: ignore[attr-defined]  # Keras reads it in two ways that must agree
    return init


def _moments_over_replicas(original: Any) -> Any:
    def moments(x: Any, axes: Any, keepdims: bool = False, synchronized: bool = False) -> tuple[Any, Any]:
        replica = context.current_replica()
        if not synchronized or replica is None or replica.axis is None:
            return original(x, axes, keepdims=keepdims)  # type: ignore[no-any-return]
        # Statistics in float32, as Keras takes them: float16 cannot hold the squares.
        wide = x.astype("float32") if x.dtype.itemsize < 4 else x
        mean = replica.mean(jnp.mean(wide, axes, keepdims=True))
        variance = replica.mean(jnp.mean(jnp.square(wide - mean), axes, keepdims=True))
        if not keepdims:
            mean, variance = jnp.squeeze(mean, axes), jnp.squeeze(variance, axes)
        return mean.astype(x.dtype), variance.astype(x.dtype)

    return moments
