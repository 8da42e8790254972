"""Reads, stores and shows the output of all workers, in a thread.

Where it is shown, nothing may be read for a while (a pager): then workers wait for their output to be read, and the
main thread must still see which of them dies.
"""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final

from unisono_launch.launch._line_splitter import LineSplitter, is_noise
from unisono_launch.launch._screen import STDERR, STDOUT, Screen

_LATE_SECONDS: Final = 5.0  # a line that has not ended by then is shown as far as it goes
_BAR_SECONDS: Final = 0.05  # between two updates of the progress bar
_QUIET_SECONDS: Final = 1.0  # all workers are dead, and another process holds their pipe: so long we wait for more
_READ_BYTES: Final = 1 << 16
_TAIL_BYTES: Final = 1 << 18  # of standard error, which are searched for a traceback


class WorkerOutput:
    """Reads the pipes of one attempt's workers until all have ended.

    A worker that is the whole job is shown as if it ran alone; several get their names before each line.
    """

    def __init__(self, screen: Screen, *, prefixed: bool, crashed: Callable[[BaseException], None]) -> None:
        self._screen = screen
        self._prefixed = prefixed
        self._crashed = crashed
        self._selector = selectors.DefaultSelector()
        self._messages: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._streams: list[_Stream] = []
        self._finishing = False
        self._last_read = self._last_bar = time.monotonic()
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_writer, False)
        self._selector.register(self._wake_reader, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="unisono-output", daemon=True)

    def add(self, rank: int, stdout: IO[bytes], stderr: IO[bytes], log: Path) -> None:
        """Takes over the pipes of a worker. Before :meth:`start`."""
        file = _Log(log, self._messages.put)
        # Only the first worker's bar is painted: each further one would need a line.
        live = self._prefixed and self._screen.live and not self._streams
        for stream, pipe in ((STDOUT, stdout), (STDERR, stderr)):
            source = _Stream(rank, stream, pipe, file, live=live)
            self._streams.append(source)
            self._selector.register(pipe, selectors.EVENT_READ, source)

    def start(self) -> None:
        """Starts to read."""
        self._thread.start()

    def say(self, text: str) -> None:
        """Shows a message of the launcher between the lines. Never waits."""
        self._messages.put(text)
        self._wake()

    def finish(self) -> None:
        """The workers are dead: the thread reads what is left, and ends."""
        self._finishing = True
        self._wake()

    def join(self, seconds: float) -> bool:
        """Waits for the thread; whether it has ended. It does not while the screen takes nothing."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def errors(self, rank: int) -> str:
        """The end of a worker's standard error."""
        (source,) = (source for source in self._streams if (source.rank, source.stream) == (rank, STDERR))
        return bytes(source.tail[-_TAIL_BYTES:]).decode(errors="replace")

    def close(self) -> None:
        """Closes the pipes. After :meth:`join`."""
        for source in self._streams:
            source.close()
        self._selector.close()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):  # it is awake already
            os.write(self._wake_writer, b"\0")

    def _run(self) -> None:
        try:
            has_more = True
            while has_more:
                has_more = self._read_ready()
                self._show_unfinished()
                while not self._messages.empty():
                    self._screen.print_message(self._messages.get())
            self._screen.leave_bar()
        except BaseException as error:  # or the workers would wait for ever to be read
            self._crashed(error)

    def _read_ready(self) -> bool:
        """Reads what has arrived; whether more may come."""
        finishing = self._finishing  # before the select: what arrives between the two is read in the next pass
        waiting = finishing or any(source.changed for source in self._streams)
        ready = self._selector.select(timeout=_BAR_SECONDS if waiting else 1.0)
        # Only empty pipes are quiet: after a write for which the screen took its time, they can be full.
        is_quiet = not ready and time.monotonic() - self._last_read > _QUIET_SECONDS
        for key, _ in ready:
            if key.data is None:
                os.read(self._wake_reader, 4096)
                continue
            source: _Stream = key.data
            data = source.read()
            self._last_read = time.monotonic()
            if source.ended:
                self._selector.unregister(source.pipe)
            if self._prefixed:
                for line in source.lines.feed(data) if data else [source.lines.take_unfinished()]:
                    if (data or line) and not is_noise(line):
                        self._screen.print_line(source.rank, source.stream, line)
            else:
                self._screen.print_raw(source.stream, data)
        return not (finishing and (is_quiet or all(source.ended for source in self._streams)))

    def _show_unfinished(self) -> None:
        """Shows progress bars, and lines that do not end for long."""
        now = time.monotonic()
        for source in self._streams if self._prefixed else ():
            if source.live and source.changed and now - self._last_bar >= _BAR_SECONDS:
                self._screen.paint_bar(source.rank, source.lines.unfinished)
                self._last_bar, source.changed = now, False
            elif not source.live and source.lines.unfinished and now - source.since > _LATE_SECONDS:
                self._screen.print_line(source.rank, source.stream, source.lines.take_unfinished())


class _Stream:
    """One stream of one worker."""

    def __init__(self, rank: int, stream: int, pipe: IO[bytes], log: _Log, *, live: bool) -> None:
        self.rank = rank
        self.stream = stream
        self.pipe = pipe
        self.live = live
        self.lines = LineSplitter()
        self.tail = bytearray()
        self.ended = False
        self.changed = False  # since the bar was painted
        self.since = 0.0  # when the unfinished line began
        self._log = log
        self._unstored = b""

    def read(self) -> bytes:
        data = os.read(self.pipe.fileno(), _READ_BYTES)
        self.ended = not data
        self._store(data)
        if self.stream == STDERR:
            self.tail += data
            if len(self.tail) > 2 * _TAIL_BYTES:
                del self.tail[:-_TAIL_BYTES]
        self.changed = self.live
        if b"\n" in data or not self.lines.unfinished:
            self.since = time.monotonic()
        return data

    def close(self) -> None:
        self.pipe.close()
        self._log.close()

    def _store(self, data: bytes) -> None:
        """Whole lines, and states of progress bars: the two streams of a worker share its log."""
        self._unstored += data
        end = 1 + max(self._unstored.rfind(b"\n"), self._unstored.rfind(b"\r"))
        if not data or len(self._unstored) > _READ_BYTES:
            end = len(self._unstored)
        self._log.write(self._unstored[:end])
        self._unstored = self._unstored[end:]


class _Log:
    """The log of one worker. A full disk ends the log, not the job."""

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._path = path
        self._warn = warn
        # Appended: a job that starts again in the same folder keeps what its predecessor wrote.
        self._file: IO[bytes] | None = path.open("ab", buffering=0)

    def write(self, data: bytes) -> None:
        if self._file is None:
            return
        try:
            self._file.write(data)
        except OSError as error:
            self._warn(f"unisono: {self._path} ends here: {error}. The job continues.")
            self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
