"""What the launchers of a job of changing size say to each other: lines of JSON over TCP.

    leader                                     member
    challenge: nonce                    ──>
                                        <──    hello: node, host, workers, nonce, proof
    welcome: proof  (or refused: why)   ──>
    go: attempt, why, rank, hosts, ports ─>                                              before each attempt
                                        <──    ending: attempt, how                      as soon as a worker fails
    end: attempt, how                   ──>                                              if one fails elsewhere
                                        <──    ended: attempt, accounts, reached, left   when no worker is left
    over: code, why                     ──>                                              the job has ended
    beat                                <─>                                              every two seconds

Nonces and proofs are explained in `_admission.py`, accounts in `_reports.py`. Nothing but JSON is understood, and lines
have a limit, a short one for strangers.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import Any, Final

VERSION: Final = 1
BEAT_SECONDS: Final = 2.0
SILENCE_SECONDS: Final = 20.0
"""Who says nothing for so long is gone, even if the connection stands: the machine is off, or the launcher stopped."""

SUSPENDED_SECONDS: Final = 5.0
"""A thread that slept for longer than this was stopped itself: others are not to blame for the silence."""

LEAVING_SECONDS: Final = 2.0
"""So long one waits for the others to hear one's last words."""

_SENDING_SECONDS: Final = 5.0
_MOST_OF_STRANGERS: Final = 4096
_MOST: Final = 1 << 24

Message = dict[str, Any]


class GoneError(Exception):
    """The other side is not there any more, or does not speak as agreed. The text says which."""


class Connection:
    """One end of a connection. May speak from any thread; one thread listens."""

    def __init__(self, opened: socket.socket) -> None:
        self.heard = time.monotonic()
        """When the other side last said something."""
        self.trusted = False
        self._socket = opened
        self._socket.settimeout(_SENDING_SECONDS)
        self._unread = b""
        self._speaking = threading.Lock()

    def fileno(self) -> int:
        """For selectors."""
        return self._socket.fileno()

    @property
    def peer(self) -> str:
        """The address of the other side."""
        try:
            return str(self._socket.getpeername()[0])
        except OSError:
            return "somewhere"

    def say(self, what: str, **content: Any) -> None:
        """Sends one message; raises :class:`GoneError`."""
        line = json.dumps({"type": what, **content}).encode() + b"\n"
        try:
            with self._speaking:
                self._socket.sendall(line)
        except OSError as error:
            raise GoneError(f"the connection broke: {error.strerror or error}") from None

    def hear(self) -> list[Message]:
        """Reads once, and returns the messages that are complete; raises :class:`GoneError`."""
        try:
            data = self._socket.recv(1 << 16)
        except OSError as error:
            raise GoneError(f"the connection broke: {error.strerror or error}") from None
        if not data:
            raise GoneError("the connection was closed")
        self.heard = time.monotonic()
        *lines, self._unread = (self._unread + data).split(b"\n")
        if len(self._unread) > (_MOST if self.trusted else _MOST_OF_STRANGERS):
            raise GoneError("it said too much at once")
        return [_understood(line) for line in lines]

    def finish(self) -> None:
        """No more will be said from here; what was said still arrives, unlike after :meth:`close`."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the other side was faster

    def close(self) -> None:
        """Gives the connection up."""
        self._socket.close()


def _understood(line: bytes) -> Message:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise GoneError("it does not speak our language") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise GoneError("it does not speak our language")
    return message
