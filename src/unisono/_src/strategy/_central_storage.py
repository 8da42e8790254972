"""Variables in one place, computation in many."""

from __future__ import annotations

from collections.abc import Sequence

import jax

from unisono._src.devices import Placement, default_devices, resolve_devices
from unisono._src.strategy._strategy import Strategy


class CentralStorageStrategy(Strategy):
    """One replica on each compute device; tf.distribute keeps the variables of this strategy on one device.

    Here every device has a copy of them, as in MirroredStrategy: fetching them for every step would take longer than
    keeping them, and results are the same.

    Args:
        compute_devices: names or JAX devices; None means all.
        parameter_device: accepted, without effect.
    """

    def __init__(self, compute_devices: Sequence[str | jax.Device] | None = None, parameter_device: object = None):
        del parameter_device
        devices = default_devices() if compute_devices is None else resolve_devices(compute_devices)
        super().__init__(Placement.over(devices))
