"""Signals that ask a command which follows a job to end; the job belongs to its engine and continues."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from unisono_launch.launch import STOP_SIGNALS, StopRequestedError


@contextlib.contextmanager
def stop_signals_raised() -> Iterator[None]:
    """A signal that asks this process to end raises :class:`StopRequestedError` in the block.

    `subprocess.run` kills its child then, as it does after Ctrl-C. What was ignored before (nohup) stays ignored.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        raise StopRequestedError(signal.Signals(number))

    before = {n: signal.signal(n, handle) for n in STOP_SIGNALS if signal.getsignal(n) != signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
