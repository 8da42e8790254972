"""`tensorflow.python.client.device_lib`: the devices of this process, as scripts list them to find GPUs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Final

import jax

_PROCESS_MEMORY_PAGES: Final = ("SC_PAGE_SIZE", "SC_PHYS_PAGES")


@dataclass(frozen=True)
class DeviceAttributes:
    """A device: its name ("/device:GPU:0"), its type, its memory in bytes, and what the driver says of it."""

    name: str
    device_type: str
    memory_limit: int
    physical_device_desc: str = ""
    incarnation: int = 0


def list_local_devices(session_config: Any = None) -> list[DeviceAttributes]:
    """The CPU devices and the accelerators that this process uses. Starts JAX."""
    devices = list(jax.local_devices(backend="cpu"))
    devices += [device for device in jax.local_devices() if device.platform != "cpu"]
    counts: dict[str, int] = {}
    found = []
    for device in devices:
        kind = device.platform.upper()
        index = counts[kind] = counts.get(kind, -1) + 1
        found.append(DeviceAttributes(f"/device:{kind}:{index}", kind, _memory_limit(device), _describe(device, index)))
    return found


def _memory_limit(device: Any) -> int:
    """The bytes that JAX may use of an accelerator; of a CPU, the memory of the machine."""
    if device.platform == "cpu":
        page_size, pages = (os.sysconf(name) for name in _PROCESS_MEMORY_PAGES)
        return page_size * pages
    return int((device.memory_stats() or {}).get("bytes_limit", 0))


def _describe(device: Any, index: int) -> str:
    if device.platform == "cpu":
        return ""
    capability = getattr(device, "compute_capability", None)
    text = f"device: {index}, name: {device.device_kind}"
    return text if capability is None else f"{text}, compute capability: {capability}"
