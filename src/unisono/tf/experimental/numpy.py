"""`tf.experimental.numpy`: NumPy's functions on tensors, which are `jax.numpy`'s."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from unisono.tf._missing import missing_in as _missing_in

_missing = _missing_in("tf.experimental.numpy", depth=2)


def experimental_enable_numpy_behavior(prefer_float32: bool = False, **_: Any) -> None:
    """Does nothing: tensors are JAX's arrays, which have NumPy's methods and promotion."""


def __getattr__(name: str) -> Any:
    return getattr(jnp, name) if hasattr(jnp, name) else _missing(name)
