"""`unisono --version`: what a report of a problem should name first."""

from __future__ import annotations

import collections
import platform
from importlib.metadata import version
from typing import Final

import jax

_PACKAGES: Final = {"JAX": "jax", "jaxlib": "jaxlib", "Keras": "keras", "NumPy": "numpy"}

_NO_DEVICES: Final = "none, JAX could not start: {reason}. Type `unisono doctor`, which says what is missing."


def describe_versions() -> str:
    """Three lines: Unisono, what it runs on, and the devices of this process."""
    packages = ", ".join(f"{name} {version(package)}" for name, package in _PACKAGES.items())
    return "\n".join(
        [
            f"unisono {version('unisono')}",
            f"Python {platform.python_version()}, {packages} on {platform.system()} {platform.machine()}",
            f"Devices: {_describe_devices()}",
        ]
    )


def _describe_devices() -> str:
    try:
        local = jax.local_devices()
    except (AssertionError, RuntimeError) as error:  # AssertionError: JAX 0.10 has started without any backend
        platforms = jax.config.jax_platforms  # type: ignore[attr-defined]
        said = str(error).partition("\n")[0].rstrip(".")
        if platforms:
            reason = f"JAX_PLATFORMS={platforms}" + (f": {said}" if said else ", and this machine has no such device")
        else:
            reason = said or type(error).__name__
        return _NO_DEVICES.format(reason=reason)
    kinds = collections.Counter(f"{device.platform} ({device.device_kind})" for device in local)
    return ", ".join(f"{number} × {kind}" for kind, number in kinds.items())
