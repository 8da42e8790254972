"""What the supervisor waits for."""

from __future__ import annotations

import contextlib
import queue
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Final, Literal

from unisono_launch.worker import ExitCode

# Asks the job to end. Ctrl-C; a scheduler; a terminal that was closed.
ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Passed on, and nothing else: schedulers announce things with them, and scripts understand them.
_PASSED_ON: Final = (signal.SIGUSR1, signal.SIGUSR2)


@dataclass(frozen=True)
class Exited:
    """A worker of this machine has ended."""

    rank: int


@dataclass(frozen=True)
class Signalled:
    """The launcher got a signal."""

    number: signal.Signals


@dataclass(frozen=True)
class Crashed:
    """A thread of the launcher failed."""

    error: BaseException


How = Literal["failed", "preempted", "signalled"]
"""Why an attempt ends. "preempted": a worker has saved and left, and its peers do the same if they are let."""


@dataclass(frozen=True)
class Elsewhere:
    """On another machine of the job the attempt is ending: our workers have to end too."""

    attempt: int
    how: How


@dataclass(frozen=True)
class Woken:
    """Something has come from another machine; who waits for it looks it up."""


@dataclass(frozen=True)
class Note:
    """A thread has something to tell the user. It must not write to the screen itself."""

    text: str


Event = Exited | Signalled | Crashed | Elsewhere | Woken | Note
# A SimpleQueue, because a signal handler may put into it whatever the main thread is doing with it.
Events = queue.SimpleQueue[Event]


@contextlib.contextmanager
def signals_as_events(events: Events) -> Iterator[None]:
    """Signals become events while the block runs. What was ignored before (nohup) stays ignored."""

    def handle(number: int, frame: FrameType | None) -> None:
        events.put(Signalled(signal.Signals(number)))

    before = {number: signal.getsignal(number) for number in (*ENDING, *_PASSED_ON)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def code_of(number: signal.Signals) -> ExitCode:
    """With which code a launcher ends that a signal ended."""
    return ExitCode.INTERRUPTED if number == signal.SIGINT else ExitCode.TERMINATED
