"""Switches between the two releases, that point to the second already."""

from __future__ import annotations

import keras


def enable_eager_execution(config: object = None, device_policy: object = None, execution_mode: object = None) -> None:
    """Does nothing: code runs line by line."""


def enable_v2_behavior() -> None:
    """Does nothing: that is how it is."""


def enable_resource_variables() -> None:
    """Does nothing: that is how it is."""


def enable_v2_tensorshape() -> None:
    """Does nothing: that is how it is."""


def executing_eagerly_outside_functions() -> bool:
    """True."""
    return True


def set_random_seed(seed: int) -> None:
    """Seeds Python, NumPy and Keras."""
    keras.utils.set_random_seed(seed)
