"""Several logical devices on one physical device: a CPU can be split, a GPU cannot."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import NamedTuple

from unisono._src.devices import has_jax_started, set_cpu_devices
from unisono.tf.config._devices import PhysicalDevice, list_physical_devices

ONE_PER_GPU = """{number} logical devices on {name}: a GPU is one device in JAX. To try several replicas, use CPU
devices: tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [...]), or start the
program with UNISONO_CPU_DEVICES={number} and JAX_PLATFORMS=cpu."""

NO_LIMIT = """memory_limit={limit} MB on {name} is not enforced: JAX allocates memory as needed. To use at most a
quarter of the memory, start the program with XLA_PYTHON_CLIENT_MEM_FRACTION=0.25."""

CPU_LIMIT = "set_logical_device_configuration: a memory_limit cannot be set on CPU devices. Leave it out."


class LogicalDeviceConfiguration(NamedTuple):
    """The configuration of one logical device."""

    memory_limit: float | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


_configurations: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration] | None
) -> None:
    """Splits the CPU into logical devices. Raises RuntimeError once JAX has started.

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
        disable_preallocation()
        warnings.warn(NO_LIMIT.format(limit=limit, name=device.name), stacklevel=2)
    _configurations[device] = wanted


def get_logical_device_configuration(device: PhysicalDevice) -> list[LogicalDeviceConfiguration] | None:
    """The configuration that was set, or None."""
    return _configurations.get(device)


def disable_preallocation() -> bool:
    """Makes JAX allocate GPU memory as needed. Returns False if JAX has started, which is too late."""
    if has_jax_started():
        return False
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    return True
