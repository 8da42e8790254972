"""The command `unisono run --on ray`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from unisono_launch.engines.ray._arguments import parse
from unisono_launch.engines.ray._installed import RayMissingError, require_ray
from unisono_launch.launch import UsageError


def submit(arguments: Sequence[str]) -> int:
    """Runs a job on a Ray cluster until it has ended; returns the exit code. Raises :class:`UsageError`."""
    options = parse(arguments)
    try:
        require_ray()
    except RayMissingError as error:
        raise UsageError(str(error)) from None
    from unisono_launch.engines.ray._driver import run_job  # imports Ray

    return run_job(options, os.environ)
