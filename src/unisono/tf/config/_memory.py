"""The memory of GPUs."""

from __future__ import annotations

import warnings

from unisono._src.devices import resolve_devices
from unisono.tf.config._devices import PhysicalDevice
from unisono.tf.config._logical import grow_memory

TOO_LATE = """set_memory_growth: JAX has started, and has taken most of the memory of the GPU at once. Call it directly
after the imports, or start the program with XLA_PYTHON_CLIENT_PREALLOCATE=false."""

_growth: dict[PhysicalDevice, bool] = {}


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """True: memory of GPUs is taken as it is needed, instead of most of it at once. It is for all GPUs together."""
    if device.device_type != "GPU":
        raise ValueError(f"set_memory_growth is about GPUs; got {device!r}.")
    _growth[device] = bool(enable)
    if enable and not grow_memory():
        warnings.warn(TOO_LATE, stacklevel=2)


def get_memory_growth(device: PhysicalDevice) -> bool:
    """What was set; False if nothing was."""
    return _growth.get(device, False)


def get_memory_info(device: str) -> dict[str, int]:
    """How many bytes of a device's memory are in use, and were at most: {"current": …, "peak": …}."""
    found = resolve_devices([device])[0]
    stats = found.memory_stats() if found.platform != "cpu" else None
    if stats is None:
        raise ValueError(f"get_memory_info: {device!r} does not tell how much memory is in use. GPUs and TPUs do.")
    return {"current": stats["bytes_in_use"], "peak": stats["peak_bytes_in_use"]}


def get_memory_usage(device: str) -> int:
    """The same, only what is in use now."""
    return get_memory_info(device)["current"]
