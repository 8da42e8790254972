"""What is known of a device."""

from __future__ import annotations

from typing import Any

import jax

from unisono._src.devices import gpu_model, has_jax_started
from unisono.tf.config._devices import PhysicalDevice


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
