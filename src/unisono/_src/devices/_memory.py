"""Does the data fit on the devices? The rule behind 'resident' input."""

from __future__ import annotations

import os
from typing import Final, Literal, get_args

import jax

Residency = Literal["auto", "device", "host"]

# Training data may take this much of a device's memory; the rest is for the model. Of all its memory and not of what
# is free at the moment: two runs of one job must decide alike.
_SHARE: Final = 0.25

_residency: Residency = "auto"


def set_residency(where: Residency) -> None:
    """Says where training data that can be addressed by row lives during ``fit``.

    - ``"auto"``: on the devices if all copies take at most a quarter of their memory, else on the host.
    - ``"device"``: always on the devices.
    - ``"host"``: never; batches are gathered on the host and sent a few at a time.

    ```python
    unisono.config.set_residency("host")
    ```
    """
    global _residency
    if where not in get_args(Residency):
        raise ValueError(f"Residency is one of {', '.join(map(repr, get_args(Residency)))}; got {where!r}.")
    _residency = where


def residency() -> Residency:
    """What :func:`set_residency` said last."""
    return _residency


def copies_fit(num_bytes: int, devices: list[jax.Device]) -> bool:
    """Whether one copy of ``num_bytes`` per device stays within its share of their memory."""
    if devices[0].platform == "cpu":  # the devices share the host's memory, and one copy in it
        return num_bytes <= _SHARE * _host_memory()
    return all(num_bytes <= _SHARE * _device_memory(device) for device in devices)


def _device_memory(device: jax.Device) -> int:
    return int((device.memory_stats() or {}).get("bytes_limit", 0))


def _host_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
