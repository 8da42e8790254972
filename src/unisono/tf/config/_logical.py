"""Several logical devices on one physical: CPUs can be divided, GPUs cannot."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import NamedTuple

from unisono._src.devices import has_jax_started, set_cpu_devices
from unisono.tf.config._devices import PhysicalDevice, list_physical_devices

ONE_PER_GPU = """{number} logical devices on {name}: JAX makes one device of a GPU. To try several replicas out, use CPU
devices: tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [...]), or start the
program with UNISONO_CPU_DEVICES={number} and JAX_PLATFORMS=cpu."""

NO_LIMIT = """memory_limit={limit} MB on {name} is not kept: JAX takes memory as it needs it. Start the program with
XLA_PYTHON_CLIENT_MEM_FRACTION=0.25, say, for a quarter of the memory."""

CPU_LIMIT = "set_logical_device_configuration: a memory_limit cannot be set on CPU devices. Leave it out."


class LogicalDeviceConfiguration(NamedTuple):
    """What one logical device is like."""

    memory_limit: float | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


_configured: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration] | None
) -> None:
    """Makes so many logical devices of one. Of a CPU; before JAX has started, or it is a RuntimeError.

    ```python
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    ```
    """
    known = list_physical_devices()
    if device not in known:
        raise ValueError(f"set_logical_device_configuration: {device!r} is none of {known}.")
    wanted = list(logical_devices or [LogicalDeviceConfiguration()])
    limit = next((each.memory_limit for each in wanted if each.memory_limit is not None), None)
    if device.device_type == "CPU":
        if limit is not None:
            raise ValueError(CPU_LIMIT)
        set_cpu_devices(len(wanted))
    elif len(wanted) > 1:
        raise NotImplementedError(ONE_PER_GPU.format(number=len(wanted), name=device.name))
    elif limit is not None:
        grow_memory()
        warnings.warn(NO_LIMIT.format(limit=limit, name=device.name), stacklevel=2)
    _configured[device] = wanted


def get_logical_device_configuration(device: PhysicalDevice) -> list[LogicalDeviceConfiguration] | None:
    """What was set; None if nothing was."""
    return _configured.get(device)


def grow_memory() -> bool:
    """Lets JAX take memory of GPUs as it needs it. False if that is too late."""
    if has_jax_started():
        return False
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    return True
