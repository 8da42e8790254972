"""Does the data fit on the devices? The rule behind residency "auto"."""

from __future__ import annotations

import os
from typing import Final

import jax

# Training data may take this fraction of a device's memory; the rest is for the model. Of the total memory, not of
# what is free at the moment: two runs of one job must decide alike.
_MAX_FRACTION: Final = 0.25


def copies_fit(num_bytes: int, devices: list[jax.Device]) -> bool:
    """Whether one copy of ``num_bytes`` per device stays within the allowed fraction of their memory."""
    if devices[0].platform == "cpu":  # the devices share the host's memory, and one copy in it
        return num_bytes <= _MAX_FRACTION * _host_memory()
    return all(num_bytes <= _MAX_FRACTION * _device_memory(device) for device in devices)


def _device_memory(device: jax.Device) -> int:
    return int((device.memory_stats() or {}).get("bytes_limit", 0))


def _host_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
