"""Devices by name: "gpu:1", "/gpu:0", "/device:GPU:0", "cpu:3", "/job:localhost/.../device:CPU:0"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import jax

from unisono._src.core import Override
from unisono._src.devices._startup import ensure_cpu_devices
from unisono_launch._install_command import install_command

_NAME = re.compile(r"(?:.*/)?(?:device:)?(?P<kind>cpu|gpu|tpu|cuda|rocm):(?P<index>\d+)", re.IGNORECASE)
_KIND_ALIASES = {"cuda": "gpu", "rocm": "gpu"}

_EXTRAS = {"gpu": "cuda", "tpu": "tpu"}
"""The extra of Unisono with JAX for this kind of device."""

ADVICE = {
    "gpu": """
If it has GPUs, `unisono doctor` says why JAX does not see them; NVIDIA's need: {install}
MirroredStrategy() without names uses the devices that JAX finds.""",
    "tpu": """
If it has TPUs, `unisono doctor` says why JAX does not see them; they need: {install}
MirroredStrategy() without names uses the devices that JAX finds.""",
}

NO_PLATFORM = """JAX_PLATFORMS={platforms}, and JAX finds no such device on this machine.
Remove this variable, to use what there is, or type `unisono doctor`, which says what is missing. NVIDIA GPUs need:
{install}"""


select_devices: Final[Override[Callable[[list[jax.Device]], list[jax.Device]]]] = Override(lambda devices: devices)
"""Which of all devices a strategy uses that was given none by name. For `unisono plan`."""


def default_devices() -> list[jax.Device]:
    """All GPUs of this process, else all TPUs, else all CPUs."""
    for kind in ("gpu", "tpu"):
        found = _local_devices(kind)
        if found:
            return select_devices.current(found)
    try:
        return select_devices.current(list(jax.local_devices(backend="cpu")))
    except (AssertionError, RuntimeError):  # AssertionError: JAX 0.10 has started without any backend
        platforms = getattr(jax.config, "jax_platforms", None)
        if not platforms or "cpu" in platforms.split(","):
            raise
        raise RuntimeError(NO_PLATFORM.format(platforms=platforms, install=install_command("cuda"))) from None


def all_devices() -> list[jax.Device]:
    """The devices of that kind of all processes that train together, process by process."""
    kind = default_devices()[0].platform
    return select_devices.current(sorted(jax.devices(kind), key=lambda device: (device.process_index, device.id)))


def resolve_devices(devices: Sequence[str | jax.Device]) -> list[jax.Device]:
    """Turns names and JAX devices into JAX devices, each at most once.

    An object that represents a device gives its name by a method ``__unisono_device__``, as paths do by ``__fspath__``.
    Naming several CPU devices creates them if JAX has not started yet.
    """
    if isinstance(devices, str | jax.Device):
        devices = [devices]
    if isinstance(devices, int):
        names = ", ".join(f"'gpu:{index}'" for index in range(min(devices, 2))) + (", …" if devices > 2 else "")
        raise TypeError(
            f"devices={devices} is a number. Name the devices, as in [{names}], or pass None for all of them; "
            f"CPU devices to try things out: unisono.config.set_cpu_devices({devices})."
        )
    if not devices:
        raise ValueError("No devices were given. Name at least one, as in ['gpu:0', 'gpu:1'], or pass None for all.")
    requested = [device if isinstance(device, jax.Device) else _parse(device) for device in devices]
    cpu_count = max((1 + name[1] for name in requested if isinstance(name, tuple) and name[0] == "cpu"), default=0)
    if cpu_count:
        ensure_cpu_devices(cpu_count)
    found = [_find(*item) if isinstance(item, tuple) else item for item in requested]
    repeated = sorted({device_name(d) for d in found if found.count(d) > 1})
    if repeated:
        raise ValueError(f"{', '.join(repeated)} named more than once in {list(devices)}. Name each device once.")
    kinds = {d.platform for d in found}
    if len(kinds) > 1:
        raise ValueError(
            f"One strategy runs on devices of one kind; {list(devices)} are {' and '.join(sorted(kinds))}. "
            "Make one strategy per kind."
        )
    return found


def device_kind(device: jax.Device) -> str:
    """ "cpu", "gpu" or "tpu"."""
    platform: str = device.platform
    return _KIND_ALIASES.get(platform, platform)


def device_name(device: jax.Device) -> str:
    """The name by which the process of a device finds it: ``gpu:0``. JAX's ids are unique among all processes."""
    of_process = [each for each in device.client.devices() if each.process_index == device.process_index]
    return f"{device_kind(device)}:{of_process.index(device)}"


def _parse(device: object) -> tuple[str, int]:
    get_name = getattr(device, "__unisono_device__", None)
    name = device if get_name is None else get_name()
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        raise ValueError(f"{device!r} is not a device. Write it as 'gpu:0', 'cpu:1', '/gpu:0' or a jax.Device.")
    kind = match["kind"].lower()
    return _KIND_ALIASES.get(kind, kind), int(match["index"])


def _find(kind: str, index: int) -> jax.Device:
    devices = _local_devices(kind)
    if index < len(devices):
        return devices[index]
    have = [device_name(d) for d in devices] or [device_name(d) for d in jax.local_devices()]
    advice = ADVICE[kind].format(install=install_command(_EXTRAS[kind])) if kind in ADVICE else ""
    raise ValueError(f"There is no device {kind}:{index} on this machine. It has: {', '.join(have)}.{advice}")


def _local_devices(kind: str) -> list[jax.Device]:
    try:
        return list(jax.local_devices(backend=kind))
    except (AssertionError, RuntimeError):  # JAX raises this when the machine has no device of this kind
        return []
