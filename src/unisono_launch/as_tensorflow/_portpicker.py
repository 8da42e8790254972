"""`portpicker`, which TensorFlow's tutorial on parameter servers imports, for machines that do not have it."""

from __future__ import annotations

import contextlib
import socket


def pick_unused_port() -> int:
    """A port of this machine that no program listens at."""
    with socket.create_server(("", 0)) as free:
        return int(free.getsockname()[1])


def is_port_free(port: int) -> bool:
    """Whether no program listens at ``port``.

    >>> is_port_free(pick_unused_port())
    True
    """
    with contextlib.suppress(OSError), socket.create_server(("", port)):
        return True
    return False


# The names of its first versions.
PickUnusedPort = pick_unused_port
IsPortFree = is_port_free
