"""A screen whose callers do not wait for the terminal: it can be paused for hours (Ctrl-S), and the job continues."""

from __future__ import annotations

import functools
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final, final

from unisono_launch.launch._events import STOP_SIGNALS, Events, SignalReceived, signals_as_events
from unisono_launch.launch._failure_report import shorten_path
from unisono_launch.launch._screen import STDERR, STDOUT, Screen, share_a_file

_MAX_BYTES: Final = 1 << 22  # that wait to be shown: more than a terminal keeps
_CALL_BYTES: Final = 100  # besides the text: lines may be short
_MAX_CALLS_BEFORE_BAR: Final = 64  # a progress bar that would be shown late is left out, since a newer one follows

_JOIN_SECONDS: Final = 0.05  # between two looks for a signal
_LAST_SECONDS: Final = 0.5  # for what can still be shown when nothing is waited for any more


@final
class BackgroundScreen(Screen):
    """Passes all calls to another screen, in a thread for each file that it writes to.

    Lines for which there is no room are left out on a terminal, and counted. In a pipe nothing may be missing: there
    the caller waits, and so do the workers, as they would without the launcher. Messages of the launcher never wait.

    Args:
        screen: what the threads write to. It may be called by both at the same time.
        logs: the folder that has the lines which are left out.
    """

    def __init__(self, screen: Screen, logs: Path) -> None:
        self.live = screen.live
        self._screen = screen
        self._logs = logs
        self._changed = threading.Condition()
        # Standard output may be a terminal that is paused, and standard error a file.
        stdout = _Backlog(STDOUT)
        self._backlogs = {STDOUT: stdout, STDERR: stdout if share_a_file(STDOUT, STDERR) else _Backlog(STDERR)}
        self._closing = False
        self._has_stopped_waiting = False
        self._error: BaseException | None = None

    def print_line(self, rank: int, stream: int, text: bytes) -> None:
        """Prints one line of a worker, after its name."""
        self._show(functools.partial(self._screen.print_line, rank, stream, text), stream, len(text), 1)

    def print_message(self, text: str, style: str = "bold") -> None:
        """Prints lines of the launcher itself, on standard error."""
        with self._changed:
            self._add(functools.partial(self._screen.print_message, text, style), STDERR, len(text))

    def print_raw(self, stream: int, data: bytes) -> None:
        """Prints the bytes of a job's only worker as they arrive."""
        self._show(functools.partial(self._screen.print_raw, stream, data), stream, len(data), data.count(b"\n"))

    def paint_bar(self, rank: int, text: bytes) -> None:
        """Paints the unfinished line of a worker over the one before, unless there is a lot to show before it."""
        with self._changed:
            if len(self._backlogs[STDOUT].calls) < _MAX_CALLS_BEFORE_BAR:
                self._add(functools.partial(self._screen.paint_bar, rank, text), STDOUT, len(text))

    def leave_bar(self) -> None:
        """Leaves the last progress bar where it is."""
        with self._changed:  # also while lines are left out: else it would be painted below all that follows
            self._add(self._screen.leave_bar, STDOUT, 0)

    def stop_waiting(self) -> None:
        """From now on nobody waits for a pipe or a terminal: what it does not take is in the logs alone."""
        with self._changed:
            self._has_stopped_waiting = True
            self._changed.notify_all()

    def close(self, events: Events) -> None:
        """Waits until all is shown, or until a signal asks the launcher to stop. From the main thread."""
        with self._changed:
            for backlog in self._backlogs.values():
                self._report_left_out(backlog)
            self._closing = True
            self._changed.notify_all()
        threads = [backlog.thread for backlog in self._backlogs.values() if backlog.thread is not None]
        with signals_as_events(events):
            _take_stop_signal(events)  # of the job, which has ended
            for thread in threads:
                while thread.is_alive() and not self._has_stopped_waiting:
                    thread.join(_JOIN_SECONDS)
                    if _take_stop_signal(events):
                        self.stop_waiting()
        for thread in threads:
            thread.join(_LAST_SECONDS)

    def _show(self, call: Callable[[], None], stream: int, num_bytes: int, num_lines: int) -> None:
        backlog = self._backlogs[stream]
        with self._changed:
            if not backlog.is_terminal:
                self._changed.wait_for(
                    lambda: backlog.num_bytes < _MAX_BYTES or self._has_stopped_waiting or self._error is not None
                )
            if self._has_stopped_waiting and backlog.num_bytes >= _MAX_BYTES:
                return
            # Once lines are missing, all that follow are left out until the terminal has caught up: one gap, not many.
            if backlog.is_terminal and (
                backlog.num_bytes >= _MAX_BYTES or (backlog.num_lines_left_out and backlog.calls)
            ):
                backlog.num_lines_left_out += num_lines
                return
            self._report_left_out(backlog)
            self._add(call, stream, num_bytes)

    def _report_left_out(self, backlog: _Backlog) -> None:
        if backlog.num_lines_left_out:
            lines, backlog.num_lines_left_out = backlog.num_lines_left_out, 0
            self.print_message(
                f"unisono: {lines} lines are not shown: the terminal was paused. See {shorten_path(self._logs)}"
            )

    def _add(self, call: Callable[[], None], stream: int, num_bytes: int) -> None:
        if self._error is not None:
            raise self._error
        backlog = self._backlogs[stream]
        if backlog.thread is None:
            backlog.thread = threading.Thread(
                target=self._run, args=(backlog,), name=f"unisono-screen-{stream}", daemon=True
            )
            backlog.thread.start()
        backlog.calls.append((call, num_bytes + _CALL_BYTES))
        backlog.num_bytes += num_bytes + _CALL_BYTES
        self._changed.notify_all()

    def _run(self, backlog: _Backlog) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: backlog.calls or self._closing)
                    if not backlog.calls:
                        return
                    call, num_bytes = backlog.calls[0]
                call()  # may take hours
                with self._changed:
                    backlog.calls.popleft()
                    backlog.num_bytes -= num_bytes
                    self._changed.notify_all()
        except BaseException as error:  # the next caller reports it
            with self._changed:
                self._error = error
                self._changed.notify_all()


class _Backlog:
    """What waits to be written to one file: a terminal, a pipe."""

    def __init__(self, stream: int) -> None:
        self.is_terminal = os.isatty(stream)
        self.calls: deque[tuple[Callable[[], None], int]] = deque()
        self.num_bytes = 0
        self.num_lines_left_out = 0
        self.thread: threading.Thread | None = None


def _take_stop_signal(events: Events) -> bool:
    """Takes all events; whether one of them is a signal that asks the launcher to stop."""
    found = False
    while not events.empty():
        event = events.get()
        found = found or (isinstance(event, SignalReceived) and event.number in STOP_SIGNALS)
    return found
