"""Physical and logical devices: which there are, and which the process uses.

A machine has one physical CPU, which can be several logical devices.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import jax

from unisono._src.devices import gpu_model, has_jax_started, num_cpu_devices, num_gpus, restrict_gpus
from unisono._src.strategy._tpu_cluster_resolver import TPUClusterResolver
from unisono_launch.cluster import fake_tpu_cores

TOO_LATE = """Visible devices cannot be changed any more: JAX has started. Call set_visible_devices before arrays,
datasets, strategies and models are created."""

CPU_HIDDEN = "set_visible_devices: the CPU cannot be hidden; it reads the data. Pass it, or name only the GPUs."


class PhysicalDevice(NamedTuple):
    """A device of the machine: "/physical_device:GPU:0"."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that programs run on: "/device:GPU:0". Strategies accept it as a device."""

    name: str
    device_type: str

    def __unisono_device__(self) -> str:
        return self.name


@dataclass
class _VisibleGpus:
    indices: list[int] = field(default_factory=list)
    num_physical: int | None = None
    """The number of GPUs of the machine; None before `set_visible_devices` has been called."""


_visible: Final = _VisibleGpus()


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, of one type or of all. Starts JAX only on TPUs.

    >>> list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    gpus = num_gpus() if _visible.num_physical is None else _visible.num_physical
    counts = {"CPU": 1, "GPU": gpus, "TPU": _num_tpus()}
    return [
        PhysicalDevice(f"/physical_device:{kind}:{index}", kind)
        for kind, count in counts.items()
        if device_type in (None, kind)
        for index in range(count)
    ]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that programs run on: the visible GPUs, and as many CPU devices as are configured."""
    gpus = num_gpus() if _visible.num_physical is None else len(_visible.indices)
    counts = {"CPU": num_cpu_devices(), "GPU": gpus, "TPU": _num_tpus()}
    return [
        LogicalDevice(f"/device:{kind}:{index}", kind)
        for kind, count in counts.items()
        if device_type in (None, kind)
        for index in range(count)
    ]


def set_visible_devices(devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None) -> None:
    """Restricts the process to these devices, of one type or of all. Call it before JAX starts."""
    wanted = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    known = list_physical_devices()
    for device in wanted:
        if device not in known:
            raise ValueError(f"set_visible_devices: {device!r} is none of {known}.")
        if device_type not in (None, device.device_type):
            raise ValueError(f"set_visible_devices: {device!r} is not a {device_type}.")
    if device_type in (None, "CPU") and not any(device.device_type == "CPU" for device in wanted):
        raise ValueError(CPU_HIDDEN)
    gpus = [device for device in known if device.device_type == "GPU"]
    indices = [gpus.index(device) for device in wanted if device.device_type == "GPU"]
    if device_type in (None, "GPU") and indices != _visible_indices(gpus):
        if has_jax_started():
            raise RuntimeError(TOO_LATE)
        restrict_gpus(indices)
        _visible.indices, _visible.num_physical = indices, len(gpus)


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that the process uses."""
    known = list_physical_devices()
    gpus = [device for device in known if device.device_type == "GPU"]
    used = [gpus[index] for index in _visible_indices(gpus)]
    visible = [device for device in known if device.device_type != "GPU" or device in used]
    return [device for device in visible if device_type in (None, device.device_type)]


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """The name of a GPU, and its compute capability once JAX has started; {} for a CPU."""
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"get_device_details: expected one of tf.config.list_physical_devices(), got {device!r}.")
    if device.device_type != "GPU":
        return {}
    index = int(device.name.rpartition(":")[2])
    if not has_jax_started():
        model = gpu_model(index)
        return {} if model is None else {"device_name": model}
    found = jax.local_devices(backend="gpu")[index]
    capability = str(getattr(found, "compute_capability", "")).split(".")
    version = {"compute_capability": tuple(map(int, capability))} if capability != [""] else {}
    return {"device_name": found.device_kind, **version}


def _visible_indices(gpus: list[PhysicalDevice]) -> list[int]:
    return list(range(len(gpus))) if _visible.num_physical is None else _visible.indices


def _num_tpus() -> int:
    fake = fake_tpu_cores(os.environ)
    if fake:
        return fake
    try:
        return len(TPUClusterResolver().devices())
    except ValueError:  # "no TPU: …", found without starting JAX
        return 0
