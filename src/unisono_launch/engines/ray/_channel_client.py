"""A supervisor's end of the channel: sends what it has, and turns what it gets into events of the supervisor."""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, Final, final

import ray

from unisono_launch.engines.ray._channel import AttemptEnded, Content, Orders, PlannedRestart, Shown
from unisono_launch.launch import EndingElsewhere, EndingReason, Events, Screen, SignalReceived, ThreadCrashed

_INTERVAL_SECONDS: Final = 0.2
_MAX_WAITING: Final = 2000  # of lines that are not sent yet: then the worker waits, as for a pipe that is not read


@final
class ChannelClient:
    """Entered for the time of an attempt. A thread exchanges messages with the channel; if the channel is lost, so is
    the driver, and the supervisor ends with an error.

    Args:
        channel: the handle of the actor.
        attempt: which attempt this is.
        rank: of the worker.
        events: of the supervisor.
        drain_notice: says that Ray takes away a node of the job, for the user; None if it does not.
    """

    def __init__(
        self, channel: Any, attempt: int, rank: int, events: Events, drain_notice: Callable[[], str | None]
    ) -> None:
        self.planned: PlannedRestart | None = None
        """Whether the supervisor was notified that Ray is going to restart everything."""
        self.orders = Orders((), None, 0, False)
        """The last ones."""
        self._channel = channel
        self._attempt = attempt
        self._rank = rank
        self._events = events
        self._drain_notice = drain_notice
        self._outbox: queue.Queue[Content] = queue.Queue(_MAX_WAITING)
        self._notices: list[Content] = []  # of the thread itself, which must not wait for room in the outbox
        self._ending: EndingReason | None = None
        self._is_ending = False
        self._num_signals = 0
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._run, name="unisono-channel", daemon=True)

    def __enter__(self) -> ChannelClient:
        self._exchange()  # what was asked before is known from the start
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_ending = True
        self._leaving.set()
        self._thread.join()

    def send(self, content: Content) -> None:
        """Sends a message with the next exchange."""
        self._is_ending = self._is_ending or isinstance(content, AttemptEnded)
        self._outbox.put(content)

    def notify_ending(self, reason: EndingReason) -> None:
        """Lets the peers know that the attempt is ending here."""
        self._ending = reason

    def wait_for_peers(self, num_workers: int, seconds: float) -> None:
        """Waits until all workers of the attempt have ended, or it is of no more use."""
        deadline = time.monotonic() + seconds
        while self.orders.num_ended < num_workers and self._thread.is_alive() and time.monotonic() < deadline:
            time.sleep(_INTERVAL_SECONDS)

    def wait_for_stop(self) -> None:
        """Waits until the driver was asked to stop, or is lost."""
        while not self.orders.stop_requested and self._thread.is_alive():
            time.sleep(_INTERVAL_SECONDS)

    def _run(self) -> None:
        try:
            while not self._leaving.wait(_INTERVAL_SECONDS):
                self._exchange()
            self._exchange()
        except BaseException as error:
            self._events.put(ThreadCrashed(error))

    def _exchange(self) -> None:
        contents, self._notices = self._notices, []
        # With the channel full, the outbox fills up and the worker waits for room in it. Once the attempt has ended
        # nothing waits: its report is behind the last lines.
        while not self._outbox.empty() and (not self.orders.is_full or self._is_ending):
            contents.append(self._outbox.get())
        known_ending = self.orders.ending
        self.orders = ray.get(self._channel.exchange.remote(self._attempt, self._rank, contents, self._ending))
        for number in self.orders.signals[self._num_signals :]:
            self._events.put(SignalReceived(number))
        self._num_signals = len(self.orders.signals)
        if self.orders.ending not in (None, known_ending, self._ending):
            assert self.orders.ending is not None
            self._events.put(EndingElsewhere(self._attempt, self.orders.ending))
        if self.planned is None and (notice := self._drain_notice()) is not None:
            self._leave("drained", notice)
        if self.planned is None and self.orders.is_resized:
            self._leave("resized", "unisono: Ray changes the number of workers.")

    def _leave(self, planned: PlannedRestart, notice: str) -> None:
        self.planned = planned
        self._notices.append(("print_message", (notice,)))
        self._events.put(SignalReceived(signal.SIGTERM))


@final
class RelayScreen(Screen):
    """Shows on the driver's screen what a supervisor has to show."""

    def __init__(self, send: Callable[[Shown], None], *, live: bool) -> None:
        self.live = live
        self._send = send

    def print_line(self, rank: int, stream: int, text: bytes) -> None:
        """Prints one line of a worker, after its name."""
        self._send(("print_line", (rank, stream, text)))

    def print_message(self, text: str, style: str = "bold") -> None:
        """Prints lines of the supervisor itself."""
        self._send(("print_message", (text, style)))

    def print_raw(self, stream: int, data: bytes) -> None:
        """Prints the bytes of a job's only worker as they arrive."""
        self._send(("print_raw", (stream, data)))

    def paint_bar(self, rank: int, text: bytes) -> None:
        """Paints the unfinished line of a worker over the one before."""
        self._send(("paint_bar", (rank, text)))

    def leave_bar(self) -> None:
        """Leaves the last progress bar where it is."""
        self._send(("leave_bar", ()))
