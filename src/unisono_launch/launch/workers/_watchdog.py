"""The watchdog: a second, tiny process that ends what is left of a job when the launcher is gone, killed -9 included.

The kernel ends the workers of a dead launcher (see `_exec_worker.py`), not what the workers have started, and only on
Linux. The watchdog holds the reading end of a pipe whose writing end only the launcher has. `+PID` on it names the
session of a worker, `-PID` takes it back. When the pipe ends, the watchdog kills what is left in those sessions, and
every process that carries the job's mark in its environment, in whatever session. Without `/proc` (macOS) it kills the
process groups alone.

Run by its path, as `_exec_worker.py` is:    python -I -S _watchdog.py JOB
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Collection
from typing import Final

JOB_VARIABLE: Final = "UNISONO_JOB"
"""The variable that every process of a job inherits. Its value is drawn at random and has no meaning."""

_KILL_SECONDS: Final = 5.0  # a job that starts processes faster than they are killed for longer than this, wins


def find_leftovers(job: str, sessions: Collection[int]) -> set[int]:
    """The living processes of `job`: those in `sessions`, and those that carry its mark. Without /proc: none."""
    mark = f"{JOB_VARIABLE}={job}\0".encode()
    found = set()
    for entry in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if not entry.isdecimal() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as stat:
                # pid (name) state parent group session …; the name may contain blanks and brackets
                state, _, _, session = stat.read().rpartition(b")")[2].split()[:4]
            with open(f"/proc/{entry}/environ", "rb") as environ:
                ours = int(session) in sessions or mark in environ.read() + b"\0"
        except OSError:  # gone meanwhile, or another user's
            continue
        if ours and state not in (b"Z", b"X"):
            found.add(int(entry))
    return found


def kill_job(job: str, sessions: Collection[int]) -> None:
    """Kills all of `job`, until a search finds nothing: a process may start another one meanwhile."""
    deadline = time.monotonic() + _KILL_SECONDS
    for session in sessions:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(session, signal.SIGKILL)
    while (found := find_leftovers(job, sessions)) and time.monotonic() < deadline:
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)


def main(job: str) -> None:
    """Reads sessions until the launcher is gone, then ends those that it did not take back."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # schedulers signal all processes; this one is last
        signal.signal(number, signal.SIG_IGN)
    sessions: set[int] = set()
    for line in sys.stdin.buffer:
        if not line.endswith(b"\n"):  # the launcher died while writing it
            break
        (sessions.add if line.startswith(b"+") else sessions.discard)(int(line[1:]))
    kill_job(job, sessions)


if __name__ == "__main__":
    main(sys.argv[1])
