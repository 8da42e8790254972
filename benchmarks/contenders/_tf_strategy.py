"""Several replicas on one CPU in TensorFlow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def mirrored_strategy(replicas: int) -> Any:
    """A `MirroredStrategy` over logical devices, which are created here, before any other use of TensorFlow."""
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * replicas)
    return tf.distribute.MirroredStrategy([f"cpu:{i}" for i in range(replicas)])
