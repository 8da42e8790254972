"""`tf.test.experimental`: waits for devices."""

from __future__ import annotations

import jax

from unisono.tf._missing import explain_missing_names as _explain_missing_names


def sync_devices() -> None:
    """Waits until all devices have finished what they were given, for measurements of time."""
    for device in jax.local_devices():
        jax.device_put(0, device).block_until_ready()
    jax.effects_barrier()


__getattr__ = _explain_missing_names("tf.test.experimental")
