"""Switches of the whole process."""

from __future__ import annotations

import jax

_log_placement: list[bool] = [False]


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """From now on an operation that gives no number is an error."""
    jax.config.update("jax_debug_nans", True)


def disable_check_numerics() -> None:
    """Ends what :func:`enable_check_numerics` began."""
    jax.config.update("jax_debug_nans", False)


def set_log_device_placement(enabled: bool) -> None:
    """Accepted, without effect: an array says where it is, `array.device`."""
    _log_placement[:] = [bool(enabled)]


def get_log_device_placement() -> bool:
    """What was said to :func:`set_log_device_placement`."""
    return _log_placement[0]
