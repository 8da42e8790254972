"""`tf.experimental.numpy`: NumPy's functions on tensors, which are `jax.numpy`'s."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from unisono.tf._missing import explain_missing_names as _explain_missing_names

_missing = _explain_missing_names("tf.experimental.numpy", depth=2)


def experimental_enable_numpy_behavior(prefer_float32: bool = False, **_: Any) -> None:
    """Does nothing: tensors are JAX's arrays, which have NumPy's methods and promotion."""


def __getattr__(name: str) -> Any:
    return getattr(jnp, name) if hasattr(jnp, name) else _missing(name)
