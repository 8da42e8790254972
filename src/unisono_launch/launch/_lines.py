"""A stream of bytes as the lines that a terminal would show."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 1 << 16  # of a line that never ends, so much is kept in memory, and shown at a time


class Lines:
    r"""Cuts what a program writes into lines. A progress bar counts as its last state.

    >>> lines = Lines()
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
        return _visible(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """Takes the next bytes; returns the lines that they finish."""
        *ended, self._rest = (self._rest + data).split(b"\n")
        lines = [_visible(line) for line in ended]
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

    def take(self) -> bytes:
        """The unfinished line, as far as it goes. What follows it makes a line of its own."""
        taken, self._rest = self.unfinished, b""
        self._shown_before = self._shown_before or bool(taken)
        return taken


def _visible(line: bytes) -> bytes:
    """What stands after the last return to the beginning of the line. Keras goes there by backspaces and a \\r."""
    return line.rstrip(b"\r\b").rpartition(b"\r")[2]
