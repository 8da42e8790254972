"""SIGTERM as a preemption notice: training finishes its call, writes a checkpoint, and exits for a restart."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any, NoReturn, Self

from unisono._src.processes._processes import processes
from unisono_launch.worker import PREEMPTED


class Preempted(SystemExit):
    """Raised after everything was saved. The process exits with code 75, which asks `unisono run` for a restart."""

    def __init__(self, message: str) -> None:
        super().__init__(PREEMPTED)
        self.message = message

    def __str__(self) -> str:
        return self.message


EXITING = "SIGTERM received; everything is saved in {folder}; exiting for a restart."


class PreemptionNotice:
    """While it is entered, SIGTERM does not end the process but sets :attr:`received`. A second SIGTERM ends it as
    usual, unless it follows at once: where all processes of a job are signalled, a launcher forwards another one.

    Python delivers signals to the main thread only. Entered in another thread, this does nothing.

    Attributes:
        received: whether SIGTERM has arrived.
        handled: set by the code that acts on it. A notice that is not handled when the block ends is sent again, to
            the handler that would have received it without the block.
    """

    def __init__(self, grace_seconds: float = 5.0) -> None:
        self._grace_seconds = grace_seconds
        self._received_at = 0.0
        self.received = self.handled = False
        self._previous_handler: Any = None
        self._installed = False

    def exit_for_restart(self, folder: str | os.PathLike[str]) -> NoReturn:
        """Ends the process, now that everything is saved in ``folder``."""
        self.handled = True
        message = EXITING.format(folder=os.fspath(folder))
        if processes().is_chief:
            print(message, file=sys.stderr)
        raise Preempted(message)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous_handler, self._installed = signal.signal(signal.SIGTERM, self._on_signal), True
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        self._restore_handler()
        if self.received and not self.handled and kind is None:
            self.handled = True
            os.kill(os.getpid(), signal.SIGTERM)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.received:
            self.received, self._received_at = True, time.monotonic()
        elif time.monotonic() - self._received_at >= self._grace_seconds:
            self._restore_handler()
            os.kill(os.getpid(), number)

    def _restore_handler(self) -> None:
        if self._installed:
            # None: a handler that was not installed by Python, which cannot be restored from here.
            previous = self._previous_handler
            signal.signal(signal.SIGTERM, previous if previous is not None else signal.SIG_DFL)
            self._installed = False
