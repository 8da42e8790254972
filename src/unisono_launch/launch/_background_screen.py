"""A screen whose callers do not wait for the terminal: it can be paused for hours (Ctrl-S), and the job continues."""

from __future__ import annotations

import functools
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final, final

from unisono_launch.launch._events import Events, signals_as_events
from unisono_launch.launch._failure_report import shorten_path
from unisono_launch.launch._screen import STDOUT, Screen

_MAX_BYTES: Final = 1 << 22  # that wait to be shown: more than a terminal keeps
_CALL_BYTES: Final = 100  # besides the text: lines may be short
_MAX_CALLS_BEFORE_BAR: Final = 64  # a progress bar that would be shown late is left out, since a newer one follows

_JOIN_SECONDS: Final = 0.05  # between two looks for a signal


@final
class BackgroundScreen(Screen):
    """Passes all calls to another screen, in a thread.

    Lines for which there is no room are left out on a terminal, and counted. In a pipe nothing may be missing: there
    the caller waits, and so do the workers, as they would without the launcher. Messages of the launcher never wait.

    Args:
        screen: what the thread writes to.
        logs: the folder that has the lines which are left out.
    """

    def __init__(self, screen: Screen, logs: Path) -> None:
        self.live = screen.live
        self._screen = screen
        self._logs = logs
        self._changed = threading.Condition()
        self._calls: deque[tuple[Callable[[], None], int]] = deque()
        self._num_bytes = 0
        self._num_left_out = 0
        self._closing = False
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def print_line(self, rank: int, stream: int, text: bytes) -> None:
        """Prints one line of a worker, after its name."""
        self._show(functools.partial(self._screen.print_line, rank, stream, text), stream, len(text), 1)

    def print_message(self, text: str, style: str = "bold") -> None:
        """Prints lines of the launcher itself, on standard error."""
        with self._changed:
            self._add(functools.partial(self._screen.print_message, text, style), len(text))

    def print_raw(self, stream: int, data: bytes) -> None:
        """Prints the bytes of a job's only worker as they arrive."""
        self._show(functools.partial(self._screen.print_raw, stream, data), stream, len(data), data.count(b"\n"))

    def paint_bar(self, rank: int, text: bytes) -> None:
        """Paints the unfinished line of a worker over the one before, unless there is a lot to show before it."""
        with self._changed:
            if len(self._calls) < _MAX_CALLS_BEFORE_BAR:
                self._add(functools.partial(self._screen.paint_bar, rank, text), len(text))

    def leave_bar(self) -> None:
        """Leaves the last progress bar where it is."""
        self._show(self._screen.leave_bar, STDOUT, 0, 0)

    def close(self, events: Events) -> None:
        """Waits until all is shown, or until a signal asks the launcher to stop. From the main thread."""
        with self._changed:
            self._report_left_out()
            self._closing = True
            self._changed.notify_all()
        if self._thread is None:
            return
        with signals_as_events(events):
            while not events.empty():  # of the job, which has ended
                events.get()
            while self._thread.is_alive() and events.empty():
                self._thread.join(_JOIN_SECONDS)

    def _show(self, call: Callable[[], None], stream: int, num_bytes: int, num_lines: int) -> None:
        with self._changed:
            if not os.isatty(stream):
                self._changed.wait_for(lambda: self._num_bytes < _MAX_BYTES or self._error is not None)
            # Once lines are missing, all that follow are left out until the terminal has caught up: one gap, not many.
            elif self._num_bytes >= _MAX_BYTES or (self._num_left_out and self._calls):
                self._num_left_out += num_lines
                return
            self._report_left_out()
            self._add(call, num_bytes)

    def _report_left_out(self) -> None:
        if self._num_left_out:
            lines, self._num_left_out = self._num_left_out, 0
            text = f"unisono: {lines} lines are not shown: the terminal was paused. See {shorten_path(self._logs)}"
            self._add(functools.partial(self._screen.print_message, text), len(text))

    def _add(self, call: Callable[[], None], num_bytes: int) -> None:
        if self._error is not None:
            raise self._error
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="unisono-screen", daemon=True)
            self._thread.start()
        self._calls.append((call, num_bytes + _CALL_BYTES))
        self._num_bytes += num_bytes + _CALL_BYTES
        self._changed.notify_all()

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._calls or self._closing)
                    if not self._calls:
                        return
                    call, num_bytes = self._calls[0]
                call()  # may take hours
                with self._changed:
                    self._calls.popleft()
                    self._num_bytes -= num_bytes
                    self._changed.notify_all()
        except BaseException as error:  # the next caller reports it
            with self._changed:
                self._error = error
                self._changed.notify_all()
