"""All devices of one machine."""

from __future__ import annotations

from collections.abc import Sequence

import jax

from unisono._src.devices import Placement, default_devices, resolve_devices
from unisono._src.strategy._communication import check_cross_device_ops
from unisono._src.strategy._strategy import Strategy


class MirroredStrategy(Strategy):
    """One replica on each device of this machine; weights are kept equal on all of them.

    ```python
    unisono.MirroredStrategy()                      # all GPUs, else all TPUs, else all CPU devices
    unisono.MirroredStrategy(["gpu:0", "gpu:1"])
    unisono.MirroredStrategy(["cpu:0", "cpu:1"])    # two replicas on one CPU, for trying things out
    ```

    Args:
        devices: names ("gpu:0", "/gpu:0", "/device:GPU:0") or JAX devices; None means all.
        cross_device_ops: one of tf.distribute's, which change nothing: XLA chooses how gradients are summed.
    """

    def __init__(self, devices: Sequence[str | jax.Device] | None = None, cross_device_ops: object = None):
        check_cross_device_ops(cross_device_ops)
        super().__init__(Placement.over(default_devices() if devices is None else resolve_devices(devices)))
