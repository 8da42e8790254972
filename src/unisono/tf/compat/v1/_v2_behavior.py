"""Functions that switch TensorFlow 1 to TensorFlow 2's behavior, which is the only one here."""

from __future__ import annotations

import keras


def enable_eager_execution(config: object = None, device_policy: object = None, execution_mode: object = None) -> None:
    """Accepted without effect: execution is always eager."""


def enable_v2_behavior() -> None:
    """Accepted without effect: it is always on."""


def enable_resource_variables() -> None:
    """Accepted without effect: it is always on."""


def enable_v2_tensorshape() -> None:
    """Accepted without effect: it is always on."""


def executing_eagerly_outside_functions() -> bool:
    """Returns True."""
    return True


def set_random_seed(seed: int) -> None:
    """Seeds Python, NumPy and Keras."""
    keras.utils.set_random_seed(seed)
