"""Which devices a process uses."""

from __future__ import annotations

from collections.abc import Sequence

from unisono._src.devices import has_jax_started, restrict_gpus
from unisono.tf.config._devices import PhysicalDevice, chosen, list_physical_devices

TOO_LATE = """Visible devices cannot be changed any more: JAX has started. Call set_visible_devices before arrays,
datasets, strategies and models are made."""

ONE_CPU = "set_visible_devices: the CPU cannot be hidden; it reads the data. Pass it, or name only the GPUs."


def set_visible_devices(devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None) -> None:
    """Uses these devices and no others, of one type or of all. Has to come before JAX starts."""
    wanted = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    known = list_physical_devices()
    for device in wanted:
        if device not in known:
            raise ValueError(f"set_visible_devices: {device!r} is none of {known}.")
        if device_type not in (None, device.device_type):
            raise ValueError(f"set_visible_devices: {device!r} is no {device_type}.")
    if device_type in (None, "CPU") and not any(device.device_type == "CPU" for device in wanted):
        raise ValueError(ONE_CPU)
    gpus = [device for device in known if device.device_type == "GPU"]
    numbers = [gpus.index(device) for device in wanted if device.device_type == "GPU"]
    if device_type in (None, "GPU") and numbers != _used(gpus):
        if has_jax_started():
            raise RuntimeError(TOO_LATE)
        restrict_gpus(numbers)
        chosen.gpus, chosen.of = numbers, len(gpus)


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that are used."""
    known = list_physical_devices()
    gpus = [device for device in known if device.device_type == "GPU"]
    used = [gpus[number] for number in _used(gpus)]
    visible = [device for device in known if device.device_type != "GPU" or device in used]
    return [device for device in visible if device_type in (None, device.device_type)]


def _used(gpus: list[PhysicalDevice]) -> list[int]:
    return list(range(len(gpus))) if chosen.of is None else chosen.gpus
