"""Ways to run operations one by one, of which there is one: they are launched and not waited for."""

from __future__ import annotations


def set_synchronous_execution(enable: bool) -> None:
    """Accepted, without effect: JAX launches operations and goes on."""


def get_synchronous_execution() -> bool:
    """False."""
    return False


def set_device_policy(device_policy: str | None) -> None:
    """Accepted, without effect: JAX says which devices do not fit together."""


def get_device_policy() -> str:
    """Always "explicit": arrays are not moved between devices in silence."""
    return "explicit"


def enable_mlir_bridge() -> None:
    """Does nothing: XLA compiles everything."""


def disable_mlir_bridge() -> None:
    """Does nothing: XLA compiles everything."""
