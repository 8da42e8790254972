"""`unisono --version`: what a report of a problem should name first."""

from __future__ import annotations

import collections
import platform
from importlib.metadata import version
from typing import Final

import jax

_PACKAGES: Final = {"JAX": "jax", "jaxlib": "jaxlib", "Keras": "keras", "NumPy": "numpy"}


def describe_versions() -> str:
    """Three lines: Unisono, what it runs on, and the devices of this process."""
    packages = ", ".join(f"{name} {version(package)}" for name, package in _PACKAGES.items())
    kinds = collections.Counter(f"{device.platform} ({device.device_kind})" for device in jax.local_devices())
    devices = ", ".join(f"{number} × {kind}" for kind, number in kinds.items())
    return "\n".join(
        [
            f"unisono {version('unisono')}",
            f"Python {platform.python_version()}, {packages} on {platform.system()} {platform.machine()}",
            f"Devices: {devices}",
        ]
    )
