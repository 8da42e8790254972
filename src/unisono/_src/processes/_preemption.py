"""SIGTERM as a notice: finish what you do, save, and go."""

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
    """Raised after everything was saved. The process ends with code 75, which asks `unisono run` for a new start."""

    def __init__(self, message: str) -> None:
        super().__init__(PREEMPTED)
        self.message = message

    def __str__(self) -> str:
        return self.message


LEFT = "This process was told to end. Everything is saved in {folder}, and it ends to be started again."


class Notice:
    """While it is entered, SIGTERM does not end the process but sets :attr:`given`. A second one ends it as ever,
    unless it follows at once: where all processes of a job are signalled, a launcher sends its workers another.

    Python hands signals to the main thread alone; entered in another one, it hears nothing.

    Attributes:
        given: whether the process was told to end.
        heeded: set by who acts on it. A notice that nobody heeded until the end of the block is given once more, to
            whom it would have gone without the block.
    """

    def __init__(self, patience: float = 5.0) -> None:
        self._patience = patience
        self._since = 0.0
        self.given = self.heeded = False
        self._before: Any = None
        self._installed = False

    def leave(self, folder: str | os.PathLike[str]) -> NoReturn:
        """Ends the process, now that everything is saved in ``folder``."""
        self.heeded = True
        left = LEFT.format(folder=os.fspath(folder))
        if processes().is_chief:
            print(left, file=sys.stderr)
        raise Preempted(left)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before, self._installed = signal.signal(signal.SIGTERM, self._on_signal), True
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        self._restore()
        if self.given and not self.heeded and kind is None:
            self.heeded = True
            os.kill(os.getpid(), signal.SIGTERM)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.given:
            self.given, self._since = True, time.monotonic()
        elif time.monotonic() - self._since >= self._patience:
            self._restore()
            os.kill(os.getpid(), number)

    def _restore(self) -> None:
        if self._installed:
            # None: a handler that was not made by Python, which cannot be put back from here.
            signal.signal(signal.SIGTERM, self._before if self._before is not None else signal.SIG_DFL)
            self._installed = False
