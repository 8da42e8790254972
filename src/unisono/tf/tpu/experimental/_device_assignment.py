"""Which TPU cores make one replica: here each core is one, so that there is nothing to assign."""

from __future__ import annotations

import enum
from typing import Any

from unisono.tf._unsupported import unsupported_class

CORES = """DeviceAssignment: a replica is one TPU core here, in JAX's order; {asked} is not there. Leave the assignment
out: tf.distribute.TPUStrategy(resolver)."""


class DeviceOrderMode(enum.IntEnum):
    """Accepted, without effect."""

    AUTO = 0
    RING = 1
    MESH = 2


class DeviceAssignment:
    """Refused, but for what there is anyway: one core for each replica."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(CORES.format(asked="another one"))

    @staticmethod
    def build(
        topology: Any,
        computation_shape: Any = None,
        computation_stride: Any = None,
        num_replicas: int = 1,
        device_order_mode: DeviceOrderMode = DeviceOrderMode.AUTO,
    ) -> None:
        """None, which is what `TPUStrategy` takes, if one core for each replica is asked for; else an error."""
        if computation_shape is not None and any(size != 1 for size in computation_shape):
            raise NotImplementedError(CORES.format(asked=f"one of shape {list(computation_shape)}"))


Topology = unsupported_class(
    "tf.tpu.experimental.Topology",
    "JAX knows how TPUs are connected; its devices have coords: jax.devices()[0].coords.",
)
HardwareFeature = unsupported_class(
    "tf.tpu.experimental.HardwareFeature", "JAX knows the hardware: jax.devices()[0].device_kind."
)
