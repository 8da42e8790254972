"""SIGTERM as a notice: finish what you do, save, and go."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self

from unisono_launch.worker import PREEMPTED


class Preempted(SystemExit):
    """Raised after everything was saved. The process ends with code 75, which asks `unisono run` for a new start."""

    def __init__(self, message: str) -> None:
        super().__init__(PREEMPTED)
        self.message = message

    def __str__(self) -> str:
        return self.message


class Notice:
    """While it is entered, SIGTERM does not end the process but sets :attr:`given`. A second one ends it as ever.

    Python hands signals to the main thread alone; entered in another one, it hears nothing.
    """

    def __init__(self) -> None:
        self.given = False
        self._before: Any = None
        self._installed = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before, self._installed = signal.signal(signal.SIGTERM, self._on_signal), True
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.given = True
        self._restore()

    def _restore(self) -> None:
        if self._installed:
            # None: a handler that was not made by Python, which cannot be put back from here.
            signal.signal(signal.SIGTERM, self._before if self._before is not None else signal.SIG_DFL)
            self._installed = False
