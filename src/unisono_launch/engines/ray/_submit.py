"""The command `unisono run --on ray`, and the check that Ray is there in the release that it was written for.

`BackendConfig` and `DataParallelTrainer` of Ray Train are its developer API, which may change with every release. So
the extra `unisono[ray]` pins the release, and another one is refused here, before a worker of it is started.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Sequence
from typing import Final

from unisono_launch._install_command import install_command
from unisono_launch.engines.ray._arguments import parse
from unisono_launch.launch import UsageError

_RELEASE: Final = "2.60"


class RayMissingError(ImportError):
    """Ray is not installed, or not in a version that fits."""


def require_ray() -> None:
    """Raises :class:`RayMissingError` unless Ray can be used. Does not import it, which takes a second."""
    try:
        found = importlib.metadata.version("ray")
    except importlib.metadata.PackageNotFoundError:
        raise RayMissingError(f"Ray is not installed. Type: {install_command('ray')}") from None
    if not f"{found}.".startswith(f"{_RELEASE}."):
        raise RayMissingError(
            f"Ray {found} is installed, and Unisono needs Ray {_RELEASE}. Type: {install_command('ray')}"
        )


def submit(arguments: Sequence[str]) -> int:
    """Runs a job on a Ray cluster until it has ended; returns the exit code. Raises :class:`UsageError`."""
    options = parse(arguments)
    try:
        require_ray()
    except RayMissingError as error:
        raise UsageError(str(error)) from None
    from unisono_launch.engines.ray._driver import run_job  # imports Ray

    return run_job(options, os.environ)
