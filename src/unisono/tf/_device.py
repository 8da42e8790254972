"""`tf.device`: the device on which new arrays are created."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import jax

from unisono._src.devices import default_devices, device_kind, device_name, resolve_devices
from unisono._src.replicas import context
from unisono.tf.config._execution import get_soft_device_placement

NO_DEVICE = """tf.device({given!r}): that is not a device. Write "/CPU:0", "/GPU:1" or "/device:GPU:0"."""

NOT_FOUND = """tf.device({given!r}): there is no such device. Found: {found}.
With tf.config.set_soft_device_placement(True) another one is used instead."""

_JOB_PREFIX = re.compile(r"(?:/job:[\w.-]+|/replica:\d+|/task:\d+)*")
_DEVICE = re.compile(r"/?(?:device:)?(?P<kind>cpu|gpu|tpu)(?::(?P<index>\d+|\*))?", re.IGNORECASE)


@contextlib.contextmanager
def device(name: Any) -> Iterator[None]:
    """Creates arrays inside the context on this device. In the scope of a strategy it changes nothing.

    ```python
    with tf.device("/CPU:0"):
        x = tf.constant([1.0, 2.0])
    ```
    """
    found = _parse_device(getattr(name, "name", name))
    if found is None or context.current_strategy() is not None:
        yield
        return
    with jax.default_device(found):
        yield


def _parse_device(given: Any) -> jax.Device | None:
    """The device with this name; None if the name has only a job or a task."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise TypeError(NO_DEVICE.format(given=given))
    job = _JOB_PREFIX.match(given)
    rest = given[job.end() :] if job else given
    if not rest:
        return None
    named = _DEVICE.fullmatch(rest)
    if named is None:
        raise ValueError(NO_DEVICE.format(given=given))
    index = 0 if named["index"] in (None, "*") else int(named["index"])
    try:
        return resolve_devices([f"{named['kind'].lower()}:{index}"])[0]
    except (ValueError, RuntimeError):  # no such GPU, or more CPU devices than JAX has started with
        if get_soft_device_placement():
            return _fallback_device(named["kind"].lower())
        names = [device_name(each) for each in [*default_devices(), *jax.local_devices(backend="cpu")]]
        known = ", ".join(dict.fromkeys(names))
        raise ValueError(NOT_FOUND.format(given=given, found=known)) from None


def _fallback_device(kind: str) -> jax.Device:
    same = [each for each in default_devices() if device_kind(each) == kind]
    return (same or jax.local_devices(backend="cpu"))[0]
