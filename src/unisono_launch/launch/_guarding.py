"""The launcher's end of the pipe to its guard (`_guard.py`)."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from unisono_launch.launch._guard import MARK

_PROGRAM: Final = Path(__file__).with_name("_guard.py")
_SECONDS: Final = 10.0  # the guard gives up sooner


class Guard:
    """Knows the sessions that must not outlive the launcher."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def watch(self, session: int) -> None:
        """Ends this session if the launcher dies."""
        self._write(f"+{session}\n")

    def forget(self, session: int) -> None:
        """The session has ended."""
        self._write(f"-{session}\n")

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        # Somebody killed the guard: on Linux the kernel still ends the workers with the launcher.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()


@contextlib.contextmanager
def guarded(job: str, environ: Mapping[str, str]) -> Iterator[Guard]:
    """A guard for the time of the block."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_PROGRAM), job],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,  # never ours: who reads our output waits until nobody holds it
        stderr=subprocess.DEVNULL,
        env={name: value for name, value in environ.items() if name != MARK},  # the job of our parent must not end it
        cwd="/",
        start_new_session=True,
    )
    try:
        yield Guard(process)
    finally:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.wait(_SECONDS)
