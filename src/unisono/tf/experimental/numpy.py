"""`tf.experimental.numpy`: the functions of `jax.numpy`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from unisono.tf._missing import explain_missing_names as _explain_missing_names

_missing = _explain_missing_names("tf.experimental.numpy", depth=2)


def experimental_enable_numpy_behavior(prefer_float32: bool = False, **_: Any) -> None:
    """Accepted without effect: tensors are JAX arrays, which have NumPy's methods and type promotion."""


def __getattr__(name: str) -> Any:
    return getattr(jnp, name) if hasattr(jnp, name) else _missing(name)
