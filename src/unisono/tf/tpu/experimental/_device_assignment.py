"""Assignment of TPU cores to replicas. Every core is one replica, so other assignments are not supported."""

from __future__ import annotations

import enum
from typing import Any

from unisono.tf._unsupported import unsupported_class

ONE_CORE_ONLY = """DeviceAssignment: a replica is one TPU core, in JAX's order; {requested} is not supported. Leave the
assignment out: tf.distribute.TPUStrategy(resolver)."""


class DeviceOrderMode(enum.IntEnum):
    """Accepted without effect."""

    AUTO = 0
    RING = 1
    MESH = 2


class DeviceAssignment:
    """Supports only :meth:`build` with one core for each replica, which is what there is without it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(ONE_CORE_ONLY.format(requested="another assignment"))

    @staticmethod
    def build(
        topology: Any,
        computation_shape: Any = None,
        computation_stride: Any = None,
        num_replicas: int = 1,
        device_order_mode: DeviceOrderMode = DeviceOrderMode.AUTO,
    ) -> None:
        """Returns None, which `TPUStrategy` accepts, for one core per replica; raises NotImplementedError otherwise."""
        if computation_shape is not None and any(size != 1 for size in computation_shape):
            raise NotImplementedError(ONE_CORE_ONLY.format(requested=f"computation_shape={list(computation_shape)}"))


Topology = unsupported_class(
    "tf.tpu.experimental.Topology",
    "use the coordinates of JAX's devices: jax.devices()[0].coords.",
)
HardwareFeature = unsupported_class("tf.tpu.experimental.HardwareFeature", "use jax.devices()[0].device_kind.")
