"""GPU memory: growth and usage."""

from __future__ import annotations

import warnings

from unisono._src.devices import resolve_devices
from unisono.tf.config._devices import PhysicalDevice
from unisono.tf.config._logical_devices import disable_preallocation

TOO_LATE = """set_memory_growth: JAX has started and has already allocated most of the GPU's memory. Call it directly
after the imports, or start the program with XLA_PYTHON_CLIENT_PREALLOCATE=false."""

_growth: dict[PhysicalDevice, bool] = {}


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Whether GPU memory is allocated as needed, instead of most of it at the start. Applies to all GPUs."""
    if device.device_type != "GPU":
        raise ValueError(f"set_memory_growth: expected a GPU, got {device!r}.")
    _growth[device] = bool(enable)
    if enable and not disable_preallocation():
        warnings.warn(TOO_LATE, stacklevel=2)


def get_memory_growth(device: PhysicalDevice) -> bool:
    """The value that was set; by default False."""
    return _growth.get(device, False)


def get_memory_info(device: str) -> dict[str, int]:
    """The bytes of a device's memory in use, now and at the peak: {"current": …, "peak": …}."""
    found = resolve_devices([device])[0]
    stats = found.memory_stats() if found.platform != "cpu" else None
    if stats is None:
        raise ValueError(f"get_memory_info: {device!r} does not report its memory usage. Expected a GPU or a TPU.")
    return {"current": stats["bytes_in_use"], "peak": stats["peak_bytes_in_use"]}


def get_memory_usage(device: str) -> int:
    """The bytes in use now."""
    return get_memory_info(device)["current"]
