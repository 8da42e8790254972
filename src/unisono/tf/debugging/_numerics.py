"""Checks for NaN and infinity, and the switch for logging device placement."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._tensors import as_array
from unisono.tf.debugging._assertions import check

_log_placement: list[bool] = [False]


def assert_all_finite(x: Any, message: Any, name: Any = None) -> Any:
    """Returns the tensor; raises InvalidArgumentError if an element is NaN or infinite."""
    array = as_array(x)
    check(jnp.all(jnp.isfinite(array)), "Tensor had NaN or Inf values", message, [array], 3)
    return array


def check_numerics(tensor: Any, message: Any, name: Any = None) -> Any:
    """The same as :func:`assert_all_finite`."""
    return assert_all_finite(tensor, message)


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Makes every operation that returns NaN raise an error, by JAX's `jax_debug_nans`. The limits have no effect."""
    jax.config.update("jax_debug_nans", True)


def disable_check_numerics() -> None:
    """Reverts :func:`enable_check_numerics`."""
    jax.config.update("jax_debug_nans", False)


def set_log_device_placement(enabled: bool) -> None:
    """Accepted without effect: `array.device` says where an array is stored."""
    _log_placement[:] = [bool(enabled)]


def get_log_device_placement() -> bool:
    """Returns what :func:`set_log_device_placement` was called with."""
    return _log_placement[0]
