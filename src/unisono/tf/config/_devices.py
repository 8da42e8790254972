"""Devices, physical and logical: a machine has one CPU, which can be several devices."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from unisono._src.devices import num_cpu_devices, num_gpus
from unisono._src.strategy._tpu_cluster_resolver import TPUClusterResolver
from unisono_launch.cluster import fake_tpu_cores


class PhysicalDevice(NamedTuple):
    """A device of the machine: "/physical_device:GPU:0"."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that programs run on: "/device:GPU:0". Strategies take it for its name."""

    name: str
    device_type: str

    def __unisono_device__(self) -> str:
        return self.name


@dataclass
class ChosenGpus:
    """The GPUs that the process uses, by number, of how many. Of None: nobody has chosen."""

    gpus: list[int] = field(default_factory=list)
    of: int | None = None


chosen: Final = ChosenGpus()


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, of one type or of all. Starts nothing, but with TPUs.

    >>> list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    numbers = {"CPU": 1, "GPU": num_gpus() if chosen.of is None else chosen.of, "TPU": _num_tpus()}
    return [
        PhysicalDevice(f"/physical_device:{kind}:{index}", kind)
        for kind, number in numbers.items()
        if device_type in (None, kind)
        for index in range(number)
    ]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that programs run on: one for each GPU that is visible, and as many CPU devices as were asked for."""
    gpus = num_gpus() if chosen.of is None else len(chosen.gpus)
    numbers = {"CPU": num_cpu_devices(), "GPU": gpus, "TPU": _num_tpus()}
    return [
        LogicalDevice(f"/device:{kind}:{index}", kind)
        for kind, number in numbers.items()
        if device_type in (None, kind)
        for index in range(number)
    ]


def _num_tpus() -> int:
    fake = fake_tpu_cores(os.environ)
    if fake:
        return fake
    try:
        return len(TPUClusterResolver().devices())
    except ValueError:  # "no TPU: …", found without starting JAX
        return 0
