"""Whether `tf.device` takes another device where the named one is not there."""

from __future__ import annotations

_soft = True


def set_soft_device_placement(enabled: bool) -> None:
    """False: naming a device that is not there in `tf.device` is an error. True: another one is taken."""
    global _soft
    _soft = bool(enabled)


def get_soft_device_placement() -> bool:
    """What was said last; at the beginning True."""
    return _soft
