"""Connects the driver to a Ray cluster, and keeps what Ray prints off the screen."""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import ray

from unisono_launch.cluster import split_address
from unisono_launch.launch import UsageError

_CONNECT_SECONDS: Final = 10.0
_ADVICE: Final = "Start one with `ray start --head`, or name another: --address HOST:6379"
_TOKEN_ADVICE: Final = "If the cluster wants a token, also in this shell: export RAY_AUTH_MODE=token"


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Connects to the cluster; raises :class:`UsageError`. At the end Ray ends all that the driver has started.

    Args:
        address: None: the cluster of this machine, else a new one on it.
    """
    _check_listener(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, ValueError, RuntimeError) as error:
        where = "this machine" if address in (None, "auto", "local") else address
        raise UsageError(
            f"Ray does not connect to a cluster at {where}: {str(error).rstrip('.')}. {_ADVICE}\n{_TOKEN_ADVICE}"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def python_output_in(path: Path) -> Iterator[None]:
    """What Ray prints in this process goes to a file: threads of it print whole logs when a node dies.

    The screen writes to the descriptors, and is not affected.
    """
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file, contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
        yield


def _check_listener(address: str | None) -> None:
    """Ray itself tries for minutes, and reports each try."""
    if address is None or address in ("auto", "local"):
        return
    try:
        host, port = split_address(address)
        socket.create_connection((host, port), _CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise UsageError(f"There is no Ray cluster at {address}: {str(error).rstrip('.')}. {_ADVICE}") from None
