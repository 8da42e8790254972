"""A stream of bytes as the lines that a terminal would show, and lines that the screen leaves out."""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 1 << 16  # of a line that never ends, so much is kept in memory, and shown at a time

# Gloo, which all-reduces over CPUs, writes this line whenever it has connected to its peers.
_GLOO_CONNECTED: Final = re.compile(
    rb"\[Gloo\] Rank \d+ is connected to (\d+) peer ranks\. Expected number of connected peer ranks is : (\d+)"
)


class LineSplitter:
    r"""Cuts what a program writes into lines. A progress bar counts as its last state.

    >>> lines = LineSplitter()
    >>> lines.feed(b"one\ntwo\r\n10%\r20%")
    [b'one', b'two']
    >>> lines.unfinished
    b'20%'
    >>> lines.feed(b"\r30%\n")
    [b'30%']
    """

    def __init__(self) -> None:
        self._rest = b""
        self._shown_before = False

    @property
    def unfinished(self) -> bytes:
        """What a terminal shows of the line that has not ended yet."""
        return _visible_part(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """Takes the next bytes; returns the lines that they finish."""
        *ended, self._rest = (self._rest + data).split(b"\n")
        lines = [_visible_part(line) for line in ended]
        if self._shown_before and lines:
            self._shown_before = False
            if not lines[0]:  # the end of a line whose text was taken before
                del lines[0]
        while len(self._rest) > _LONGEST and b"\r" not in self._rest:
            lines.append(self._rest[:_LONGEST])
            self._rest = self._rest[_LONGEST:]
        if b"\r" in self._rest:  # only the last state of a progress bar is worth keeping
            kept = self._rest.rstrip(b"\r\b").rfind(b"\r")
            self._rest = self._rest[max(kept, 0) :][-_LONGEST:]
        return lines

    def take_unfinished(self) -> bytes:
        """The unfinished line, as far as it goes. What follows it makes another line."""
        taken, self._rest = self.unfinished, b""
        self._shown_before = self._shown_before or bool(taken)
        return taken


def is_noise(line: bytes) -> bool:
    """Whether a library prints this line whenever all is well: then it is in the logs, and not on the screen.

    >>> is_noise(b"[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : 1")
    True
    >>> is_noise(b"[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : 2")
    False
    """
    found = _GLOO_CONNECTED.fullmatch(line)
    return found is not None and found[1] == found[2]


def _visible_part(line: bytes) -> bytes:
    """What follows the last return to the beginning of the line. Keras returns by backspaces and a \\r."""
    return line.rstrip(b"\r\b").rpartition(b"\r")[2]
