"""Reports the progress of this process to the launcher that watches it."""

from __future__ import annotations

import contextlib
import functools
import os

from unisono._src.core import read_environment, warn_user
from unisono_launch.worker import FAILED, write_status

NOT_REPORTED = (
    """The status file cannot be written: {error}. Training continues; the launcher does not see its steps."""
)

_last_step = 0
_reports = 0


def report_progress(phase: str, step: int) -> None:
    """Reports that ``step`` steps of ``phase`` have started. Costs microseconds, and nothing without a launcher.

    A disk that is full costs the launcher this report, not the user the training.
    """
    global _last_step, _reports
    _last_step = step
    _reports += 1
    try:
        _write(phase, step)
    except OSError as error:
        warn_user(NOT_REPORTED.format(error=error))


def count_reports() -> int:
    """How often progress was reported, whether or not a launcher watches."""
    return _reports


def report_failure() -> None:
    """Reports that this process has failed, at the step that it reported last, and is about to exit."""
    with contextlib.suppress(OSError):  # the launcher then sees its exit only
        _write(FAILED, _last_step)


def _write(phase: str, step: int) -> None:
    file = _status_file(os.getpid())
    if file is not None:
        write_status(file, phase, step)


@functools.cache
def _status_file(pid: int) -> int | None:
    """Opened once by a process. By pid: a forked child inherits the cache, and must not use the file."""
    path = status_path()
    return None if path is None else os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)


def status_path() -> str | None:
    """Where this process reports its progress, beside its log; None if no launcher watches it."""
    path = read_environment().status
    # A worker leads its session. Its child processes inherit the variable, but the file belongs to the worker.
    return path if path is not None and os.getsid(0) == os.getpid() else None


def run_dir_of_worker() -> str | None:
    """The folder of the run, if this process is a worker of one; None in processes that a worker has started."""
    environment = read_environment()
    is_child = environment.status is not None and status_path() is None
    return None if is_child else environment.run_dir
