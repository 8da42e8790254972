"""What the launcher needs of a worker, and of what starts workers: processes here, or elsewhere."""

from __future__ import annotations

import contextlib
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, final

from unisono_launch.launch._events import Events


@dataclass(frozen=True)
class WorkerExit:
    """How a worker ended, and when."""

    code: int
    """Its exit code; -9 if signal 9 ended it."""
    at: float
    """By `time.monotonic`."""


class Worker(ABC):
    """A started worker. An implementation sets `exit` when it ends, and puts `WorkerExited` into the events."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.exit: WorkerExit | None = None
        self.stop_requested_at: float | None = None
        """When the launcher first asked it to stop."""

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.exit is None

    @property
    def exited_on_request(self) -> bool:
        """Whether it ended after the launcher had asked it to stop."""
        return self.exit is not None and self.stop_requested_at is not None and self.stop_requested_at <= self.exit.at

    @final
    def request_stop(self, number: signal.Signals) -> None:
        """Sends a signal, after which its end is the launcher's doing."""
        if self.alive:
            self._note_stop_request()
            self.send_signal(number)

    @property
    @abstractmethod
    def name(self) -> str:
        """What a message calls it: "process 4711"."""

    @property
    @abstractmethod
    def output_streams(self) -> tuple[IO[bytes], IO[bytes]]:
        """Its standard output and standard error."""

    @abstractmethod
    def is_suspended(self) -> bool:
        """Whether it is held by SIGSTOP. A debugger's stop does not count. False where that is not known."""

    @abstractmethod
    def send_signal(self, number: signal.Signals) -> None:
        """Sends a signal to the worker itself, not to what it has started."""

    @abstractmethod
    def kill(self) -> None:
        """Ends it and what it has started, now."""

    @abstractmethod
    def release(self, timeout: float) -> bool:
        """Waits for its end and frees what the starter holds of it; whether it has ended."""

    @final
    def _note_stop_request(self) -> None:
        if self.alive and self.stop_requested_at is None:
            self.stop_requested_at = time.monotonic()


class WorkerStarter(contextlib.AbstractContextManager["WorkerStarter"]):
    """Starts workers. Entered for the time of the job; when it is left, nothing that it started is running."""

    @abstractmethod
    def start(self, rank: int, program: Sequence[str], environment: Mapping[str, str], events: Events) -> Worker:
        """Starts a worker: Python with `program` as its arguments."""

    @abstractmethod
    def end_leftovers(self, workers: Sequence[Worker], grace: float) -> None:
        """Ends what `workers` have started and not ended: by SIGTERM, and after `grace` seconds by SIGKILL."""
