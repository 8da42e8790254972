"""One worker: a process in a session of its own, and the moment at which it ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from unisono_launch.launch._events import Crashed, Events, Exited

_CHILD: Final = Path(__file__).with_name("_child.py")


@dataclass(frozen=True)
class Ending:
    """How a worker ended, and when."""

    code: int
    """Its exit code; -9 if signal 9 ended it."""
    at: float
    """By `time.monotonic`."""


class Worker:
    """A running worker. Made in the main thread: the kernel ties its life to the thread that made it."""

    def __init__(self, rank: int, program: Sequence[str], environment: Mapping[str, str], events: Events) -> None:
        self.rank = rank
        self.ending: Ending | None = None
        self.signalled: float | None = None
        """When we first told it to end."""
        self._reaped = False
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_CHILD), str(os.getpid()), sys.executable, *program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C comes through us, once; and all its children can be killed together
        )
        self.session = self._process.pid
        self._thread = threading.Thread(target=self._wait, args=(events,), name=f"unisono-worker-{rank}", daemon=True)
        self._thread.start()

    @property
    def pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """Its standard output and standard error."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        return self._process.stdout, self._process.stderr

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.ending is None

    @property
    def told(self) -> bool:
        """Whether it ended after we had told it to."""
        return self.ending is not None and self.signalled is not None and self.signalled <= self.ending.at

    def is_stopped(self) -> bool:
        """Whether SIGSTOP holds it. A debugger's stop is not meant. Without /proc nobody knows."""
        try:
            stat = Path(f"/proc/{self.session}/stat").read_text(errors="replace")
        except OSError:
            return False
        return stat.rpartition(")")[2].split()[0] == "T"

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to the worker itself; what it has started is its own business."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.session, number)

    def tell_to_end(self, number: signal.Signals) -> None:
        """Sends a signal, after which its end is our doing."""
        if self.alive:
            self.signalled = self.signalled or time.monotonic()
            self.send(number)

    def kill(self) -> None:
        """Ends it and everything in its session's process group, now."""
        if self._reaped:
            return
        if self.alive:
            self.signalled = self.signalled or time.monotonic()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.session, signal.SIGKILL)

    def reap(self, patience: float) -> bool:
        """Lets the kernel forget it once it has ended; whether it has. Its number can mean another process then."""
        self._thread.join(patience)
        if self._thread.is_alive():
            return False
        self._process.wait()
        self._reaped = True
        return True

    def _wait(self, events: Events) -> None:
        """Notes the moment of the end, whatever the main thread is doing. The order of ends tells who was first."""
        try:
            if hasattr(os, "waitid"):
                # WNOWAIT: it stays a zombie, so that its number stays its own until we reap it.
                found = os.waitid(os.P_PID, self.session, os.WEXITED | os.WNOWAIT)
                assert found is not None
                code = found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
            else:  # macOS before Python 3.13
                code = self._process.wait()
            self.ending = Ending(code, time.monotonic())
            events.put(Exited(self.rank))
        except BaseException as error:
            events.put(Crashed(error))
