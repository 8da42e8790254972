"""The benchmark's side of the protocol: a contender process that runs rounds on request, with a limit on every wait."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BUILD_SECONDS = 300.0
ROUND_SECONDS = 180.0


class ContenderError(Exception):
    """A contender died or exceeded its time limit."""


class Contender:
    """A running contender, start and ended by :func:`start`."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Any):
        self.name = name
        self.about: dict[str, str] = {}
        self._process, self._log = process, log
        self._unread = b""

    def wait_until_ready(self) -> None:
        """Waits until it has built its model or pipeline."""
        self.about = self._answer(BUILD_SECONDS)["about"]

    def round(self) -> dict[str, float]:
        """Runs one round; returns the answer described in :mod:`_protocol`."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has died, which reading the answer reports
            self._process.stdin.write(b"round\n")
            self._process.stdin.flush()
        return self._answer(ROUND_SECONDS)

    def _answer(self, limit: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        deadline = time.monotonic() + limit
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise ContenderError(f"{self.name} gave no answer within {limit:.0f} s. {self._last_words()}")
                piece = os.read(self._process.stdout.fileno(), 65536)
                if not piece:
                    code = self._process.wait()
                    raise ContenderError(f"{self.name} ended with code {code}. {self._last_words()}")
                self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines() if line.strip()]
        return f"The end of its stderr: {' / '.join(lines[-3:]) or 'nothing'}"


@contextlib.contextmanager
def start(name: str, command: list[str], variables: dict[str, str], folder: Path) -> Iterator[Contender]:
    """Starts a contender in its own process group, and kills the group on exit."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command,
            env=variables,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield Contender(name, process, log)
        finally:
            # SIGKILL is enough: it has no state to save.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()  # type: ignore[union-attr]
