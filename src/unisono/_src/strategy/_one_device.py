"""One device, the same API."""

from __future__ import annotations

import jax

from unisono._src.devices import Placement, resolve_devices
from unisono._src.strategy._strategy import Strategy


class OneDeviceStrategy(Strategy):
    """Everything on one device: for debugging, and for code that must run with and without several devices.

    ```python
    strategy = unisono.OneDeviceStrategy("gpu:0")
    ```
    """

    def __init__(self, device: str | jax.Device):
        super().__init__(Placement.over(resolve_devices([device])))
