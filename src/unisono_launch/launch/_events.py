"""What the main thread of a launcher waits for, and signals that become such events, or errors."""

from __future__ import annotations

import contextlib
import queue
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Final, Literal

from unisono_launch.worker import ExitCode

# Ask the job to stop: Ctrl-C; a scheduler; a terminal that was closed.
STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Forwarded to the workers, and nothing else: schedulers announce things with them, and scripts understand them.
_FORWARDED_SIGNALS: Final = (signal.SIGUSR1, signal.SIGUSR2)


class StopRequestedError(Exception):
    """A signal has asked this process to end."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number


@dataclass(frozen=True)
class WorkerExited:
    """A worker of this machine has ended."""

    rank: int


@dataclass(frozen=True)
class SignalReceived:
    """The launcher got a signal."""

    number: signal.Signals


@dataclass(frozen=True)
class ThreadCrashed:
    """A thread of the launcher failed."""

    error: BaseException


EndingReason = Literal["failed", "preempted", "signalled"]
"""Why an attempt ends. "preempted": a worker has saved and left, and its peers do the same if they are given time."""


@dataclass(frozen=True)
class EndingElsewhere:
    """On another machine of the job the attempt is ending: the workers of this one have to end too."""

    attempt: int
    reason: EndingReason


@dataclass(frozen=True)
class WakeUp:
    """The state of the connections to other machines has changed."""


@dataclass(frozen=True)
class UserMessage:
    """A thread of the launcher has a message for the user. The main thread passes it to the screen."""

    text: str


Event = WorkerExited | SignalReceived | ThreadCrashed | EndingElsewhere | WakeUp | UserMessage
# A SimpleQueue, because a signal handler may put into it whatever the main thread is doing with it.
Events = queue.SimpleQueue[Event]


@contextlib.contextmanager
def signals_as_events(events: Events) -> Iterator[None]:
    """Signals become events while the block runs. What was ignored before (nohup) stays ignored."""

    def handle(number: int, frame: FrameType | None) -> None:
        events.put(SignalReceived(signal.Signals(number)))

    before = {number: signal.getsignal(number) for number in (*STOP_SIGNALS, *_FORWARDED_SIGNALS)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextlib.contextmanager
def stop_signals_raised() -> Iterator[None]:
    """A signal that asks this process to end raises :class:`StopRequestedError` in the block, which follows a job.

    `subprocess.run` kills its child then, as it does after Ctrl-C. What was ignored before (nohup) stays ignored.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        raise StopRequestedError(signal.Signals(number))

    before = {n: signal.signal(n, handle) for n in STOP_SIGNALS if signal.getsignal(n) != signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def exit_code_after(number: signal.Signals, codes: Iterable[int]) -> ExitCode:
    """The exit code of a launcher that was ended by this signal, given the codes of its workers.

    >>> exit_code_after(signal.SIGTERM, [75]).name, exit_code_after(signal.SIGTERM, []).name
    ('PREEMPTED', 'TERMINATED')
    """
    if number == signal.SIGINT:  # the user wants no restart
        return ExitCode.INTERRUPTED
    return ExitCode.PREEMPTED if ExitCode.PREEMPTED in codes else ExitCode.TERMINATED
