"""What the user sees: lines of all workers under each other, and below them the progress bar of the first one."""

from __future__ import annotations

import contextlib
import os
import re
import select
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final, final

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.style import Style

from unisono_launch.launch._events import Events

_COLOURS: Final = ("cyan", "green", "yellow", "magenta", "blue", "bright_cyan", "bright_green", "bright_magenta")
_ESCAPE: Final = re.compile(r"(\x1b\[[0-9;?]*[ -/]*[@-~])")
_ERASE: Final = b"\r\x1b[K"
STDOUT: Final = 1
STDERR: Final = 2


class Screen(ABC):
    """Where the output of workers and messages of the launcher are shown."""

    live: bool
    """Whether a line can be painted over."""

    @abstractmethod
    def print_line(self, rank: int, stream: int, text: bytes) -> None:
        """Prints one line of a worker, after its name."""

    @abstractmethod
    def print_message(self, text: str, style: str = "bold") -> None:
        """Prints lines of the launcher itself, on standard error."""

    @abstractmethod
    def print_raw(self, stream: int, data: bytes) -> None:
        """Prints the bytes of a job's only worker as they arrive."""

    @abstractmethod
    def paint_bar(self, rank: int, text: bytes) -> None:
        """Paints the unfinished line of a worker over the one before; nothing where `live` is false."""

    @abstractmethod
    def leave_bar(self) -> None:
        """Leaves the last progress bar where it is."""

    def stop_waiting(self) -> None:
        """From now on nobody waits for a reader, where a call may wait for one."""
        return

    def close(self, events: Events) -> None:
        """Waits until all is shown, where that takes time, or until a signal asks the launcher to stop."""
        del events


@final
class TerminalScreen(Screen):
    """Standard output and standard error of the launcher, written as bytes: what a worker prints may not be text.

    Nothing here raises when the reader is gone (`unisono run … | head`): the job continues, and the logs are complete.
    If the two are different files, one thread may write to each: a call for standard error leaves the bar alone then.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.live = os.isatty(STDOUT)
        self._coloured = {
            stream: os.isatty(stream) and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
            for stream in (STDOUT, STDERR)
        }
        self._is_one_file = share_a_file(STDOUT, STDERR)
        self._bar = b""
        self._closed: set[int] = set()

    def print_line(self, rank: int, stream: int, text: bytes) -> None:
        """Prints one line of a worker, after its name."""
        self._print(stream, self._prefix(rank, stream) + text)

    def print_message(self, text: str, style: str = "bold") -> None:
        """Prints lines of the launcher itself, on standard error."""
        self._print(STDERR, self._styled(STDERR, text, style).encode(errors="surrogateescape"))

    def print_raw(self, stream: int, data: bytes) -> None:
        """Prints the bytes of a job's only worker as they arrive."""
        self._write(stream, data)

    def paint_bar(self, rank: int, text: bytes) -> None:
        """Paints the unfinished line of a worker over the one before; nothing where `live` is false."""
        if not self.live:
            return
        shown = text.decode(errors="replace")
        width = _width() - len(f"[worker {rank}] ") - 1
        self._bar = self._prefix(rank, STDOUT) + _cut(shown, width).encode() if text else b""
        self._write(STDOUT, _ERASE + self._bar)

    def leave_bar(self) -> None:
        """Leaves the last progress bar where it is."""
        if self._bar:
            self._write(STDOUT, b"\n")
            self._bar = b""

    def _print(self, stream: int, line: bytes) -> None:
        if (stream != STDOUT and not self._is_one_file) or not self._bar:
            self._write(stream, line + b"\n")
            return
        self._write(STDOUT, _ERASE)
        self._write(stream, line + b"\n")
        self._write(STDOUT, self._bar)

    def _prefix(self, rank: int, stream: int) -> bytes:
        return self._styled(stream, f"[worker {rank}]", _COLOURS[rank % len(_COLOURS)]).encode() + b" "

    def _styled(self, stream: int, text: str, style: str) -> str:
        system = ColorSystem.STANDARD if self._coloured[stream] else None
        return Style.parse(style).render(text, color_system=system)

    def _write(self, stream: int, data: bytes) -> None:
        while data and stream not in self._closed:
            try:
                data = data[os.write(stream, data) :]
            except BlockingIOError:  # another program made the terminal non-blocking
                with contextlib.suppress(OSError):
                    select.select([], [stream], [], 1.0)
            except OSError:
                self._closed.add(stream)


def share_a_file(one: int, other: int) -> bool:
    """Whether two streams lead to the same terminal, pipe or file."""
    try:
        return os.path.samestat(os.fstat(one), os.fstat(other))
    except OSError:  # one of them is closed
        return False


def _width() -> int:
    try:
        return os.get_terminal_size(STDOUT).columns or 80
    except OSError:
        return 80


def _cut(text: str, width: int) -> str:
    """As much of `text` as fits, colours not counted: a bar that wraps cannot be painted over."""
    kept, room = [], max(0, width)
    for part in _ESCAPE.split(text):
        if _ESCAPE.match(part):
            kept.append(part)
            continue
        part = part[:room]
        while cell_len(part) > room:  # some characters take two columns
            part = part[:-1]
        room -= cell_len(part)
        kept.append(part)
    return "".join(kept)
