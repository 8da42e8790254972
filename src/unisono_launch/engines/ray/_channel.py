"""The channel between the driver of a job and the supervisors of its workers: a Ray actor on the driver's node.

Supervisors send what the driver shows and decides on, and get what the driver and their peers ask of them with the
answer. Ray ends the actor, as all actors of a job, when the driver dies.
"""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from unisono_launch.launch import STOP_SIGNALS, EndingReason

_SILENCE_SECONDS: Final = 5.0  # a supervisor that sends nothing for so long is not waited for
_MAX_MESSAGES: Final = 10_000  # that the driver has not collected: the pipe that it writes to may not be read

PlannedRestart = Literal["drained", "resized"]
"""Why Ray is going to start all again although nothing has failed: it takes away a node, or has room for more workers.
"""

Shown = tuple[str, tuple[Any, ...]]
"""A call of a method of `Screen`: its name and its arguments."""


@dataclass(frozen=True)
class AttemptBegan:
    """A supervisor is about to start its worker."""

    hosts: tuple[str, ...]
    """Of all workers, by rank."""
    node: str
    """Ray's ID of the supervisor's node."""


@dataclass(frozen=True)
class AttemptEnded:
    """No process of a worker is left."""

    report: dict[str, Any]
    """By `report_to_json`."""
    planned: PlannedRestart | None
    """Whether Ray had announced a restart."""


@dataclass(frozen=True)
class SetupFailed:
    """A worker cannot be started on its node, and could not be after a restart."""

    why: str


Content = AttemptBegan | AttemptEnded | SetupFailed | Shown


@dataclass(frozen=True)
class Message:
    """What the supervisor of worker `rank` has sent."""

    attempt: int
    rank: int
    content: Content


@dataclass(frozen=True)
class Orders:
    """What a supervisor gets back: all that was ever asked, so that nothing is lost with an answer."""

    signals: tuple[signal.Signals, ...]
    """Those that the driver got."""
    ending: EndingReason | None
    """Why this attempt ends elsewhere."""
    num_ended: int
    """How many workers have ended in this attempt."""
    is_resized: bool
    """Whether Ray is about to change the number of workers."""
    is_full: bool = False
    """Whether the driver collects too slowly: supervisors keep further lines of their workers."""

    @property
    def stop_requested(self) -> bool:
        """Whether the driver was asked to stop. SIGUSR1 and SIGUSR2 are for the script."""
        return any(number in STOP_SIGNALS for number in self.signals)


class JobChannel:
    """The actor."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._signals: list[signal.Signals] = []
        self._endings: dict[int, EndingReason] = {}
        self._ended: defaultdict[int, set[int]] = defaultdict(set)
        self._seen: defaultdict[int, dict[int, float]] = defaultdict(dict)
        self._resized: set[int] = set()

    def exchange(
        self, attempt: int, rank: int, contents: Sequence[Content], ending: EndingReason | None = None
    ) -> Orders:
        """Called by a supervisor a few times a second."""
        self._seen[attempt][rank] = time.monotonic()
        self._messages += [Message(attempt, rank, content) for content in contents]
        if any(isinstance(content, AttemptEnded) for content in contents):
            self._ended[attempt].add(rank)
        if ending is not None and self._endings.get(attempt) != "failed":  # which outweighs the others
            self._endings[attempt] = ending
        return Orders(
            signals=tuple(self._signals),
            ending=self._endings.get(attempt),
            num_ended=len(self._ended[attempt]),
            is_resized=attempt in self._resized,
            is_full=len(self._messages) >= _MAX_MESSAGES,
        )

    def collect(self) -> list[Message]:
        """Called by the driver: what has arrived since the last call."""
        messages, self._messages = self._messages, []
        return messages

    def send_signal(self, number: signal.Signals) -> None:
        """Called by the driver."""
        self._signals.append(number)

    def announce_resize(self) -> int:
        """Called by Ray Train's controller before it ends all workers: they can save. Returns how many have not ended.

        To be called again until it is zero.
        """
        if not self._seen:
            return 0
        attempt = max(self._seen)
        self._resized.add(attempt)
        living = {rank for rank, at in self._seen[attempt].items() if time.monotonic() - at < _SILENCE_SECONDS}
        return len(living - self._ended[attempt])
