"""Functions that switch between TensorFlow 1's and TensorFlow 2's behavior, which is the only one here."""

from __future__ import annotations

import warnings

import keras

STAYS_EAGER = """{call}() has no effect: execution stays eager. Remove the line: Keras models train without it. What
runs in a session becomes a function with @tf.function, and a placeholder its argument."""


def enable_eager_execution(config: object = None, device_policy: object = None, execution_mode: object = None) -> None:
    """Accepted without effect: execution is always eager."""


def enable_v2_behavior() -> None:
    """Accepted without effect: it is always on."""


def enable_resource_variables() -> None:
    """Accepted without effect: it is always on."""


def enable_v2_tensorshape() -> None:
    """Accepted without effect: it is always on."""


def enable_control_flow_v2() -> None:
    """Accepted without effect: it is always on."""


def enable_tensor_equality() -> None:
    """Accepted without effect: it is always on."""


def disable_eager_execution() -> None:
    """Without effect, with a warning: execution stays eager."""
    _warn("tf.compat.v1.disable_eager_execution")


def disable_v2_behavior() -> None:
    """Without effect, with a warning: execution stays eager."""
    _warn("tf.compat.v1.disable_v2_behavior")


def executing_eagerly_outside_functions() -> bool:
    """Returns True."""
    return True


def control_flow_v2_enabled() -> bool:
    """Returns True."""
    return True


def resource_variables_enabled() -> bool:
    """Returns True."""
    return True


def set_random_seed(seed: int) -> None:
    """Seeds Python, NumPy and Keras."""
    keras.utils.set_random_seed(seed)


def _warn(call: str) -> None:
    warnings.warn(STAYS_EAGER.format(call=call), stacklevel=3)
