"""One end of a TCP connection that carries JSON objects, one on each line.

It is the only code that reads bytes from the network, so its limits hold for launchers and workers alike: on the size
of a message, on the time that a peer may take to send or accept one, and on what a message can be (a JSON object whose
strings are valid Unicode; nothing is unpickled).

`multiprocessing.connection` does not fit. Its handshake and its `recv_bytes` block without a time limit, so one peer
that sends a byte now and then would hold up all of them; a `Listener` there accepts and authenticates one peer at a
time; Python 3.11 authenticates with HMAC-MD5. And here the secret is optional (`_secret.py`).
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any, Final, final

_SEND_SECONDS: Final = 5.0
_READ_BYTES: Final = 1 << 16
_MAX_BYTES_UNIDENTIFIED: Final = 4096
_MAX_BYTES_IDENTIFIED: Final = 1 << 24

Message = dict[str, Any]


class PeerLostError(Exception):
    """The peer has hung up, cannot be reached, or does not follow the protocol. The text says which."""


@final
class Connection:
    """One end of a connection. Any thread may send; one thread receives.

    >>> ours, theirs = (Connection(end) for end in socket.socketpair())
    >>> ours.send({"type": "hello"})
    >>> theirs.receive_one(time.monotonic() + 5)
    {'type': 'hello'}
    >>> ours.close(), theirs.close()
    (None, None)
    """

    def __init__(self, opened: socket.socket) -> None:
        self.last_received = time.monotonic()
        """When the peer last sent something."""
        self.identified = False
        """Whether the peer is known. Then it may send large messages, and as many as it likes."""
        self._socket = opened
        self._socket.settimeout(_SEND_SECONDS)
        self._messages: list[Message] = []
        self._incomplete = b""
        self._bytes_left = _MAX_BYTES_UNIDENTIFIED  # that the peer may send until it is identified
        self._sending = threading.Lock()

    def fileno(self) -> int:
        """For selectors."""
        return self._socket.fileno()

    @property
    def peer_host(self) -> str:
        """The IP address of the peer."""
        try:
            return str(self._socket.getpeername()[0])
        except OSError:
            return "an unknown address"

    @property
    def own_host(self) -> str:
        """The IP address of this machine by which the peer reaches it."""
        return str(self._socket.getsockname()[0])

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends one message; raises :class:`PeerLostError`."""
        # "replace": file names that are not UTF-8 are lone surrogates in Python, which the peer refuses.
        line = json.dumps(message, ensure_ascii=False).encode(errors="replace") + b"\n"
        try:
            with self._sending:
                self._socket.settimeout(_SEND_SECONDS)
                self._socket.sendall(line)
        except OSError as error:
            raise PeerLostError(f"the connection broke: {error.strerror or error}") from None

    def receive(self) -> list[Message]:
        """Reads what has arrived, and returns the complete messages; raises :class:`PeerLostError`.

        Returns at once when a selector has reported this connection as readable.
        """
        self._read()
        return self.take_received()

    def take_received(self) -> list[Message]:
        """Messages that arrived together with one that :meth:`receive_one` returned."""
        messages, self._messages = self._messages, []
        return messages

    def receive_one(self, deadline: float) -> Message:
        """Waits for the next message until `deadline` (`time.monotonic`); raises :class:`PeerLostError`."""
        while not self._messages:
            left = deadline - time.monotonic()
            if left <= 0:
                raise PeerLostError("it did not answer in time")
            self._socket.settimeout(left)
            self._read()
        return self._messages.pop(0)

    def finish_sending(self) -> None:
        """Announces that nothing more is sent from here. What was sent still arrives, unlike after :meth:`close`."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the peer was faster

    def detach(self) -> socket.socket:
        """The socket, for another protocol. All that the peer has sent has to be read before."""
        if self._messages or self._incomplete:
            raise PeerLostError("it does not speak Unisono's protocol")
        return self._socket

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close()

    def _read(self) -> None:
        try:
            data = self._socket.recv(_READ_BYTES if self.identified else _MAX_BYTES_UNIDENTIFIED + 1)
        except TimeoutError:
            raise PeerLostError("it did not answer in time") from None
        except OSError as error:
            raise PeerLostError(f"the connection broke: {error.strerror or error}") from None
        if not data:
            raise PeerLostError("the connection was closed")
        self.last_received = time.monotonic()
        *lines, self._incomplete = (self._incomplete + data).split(b"\n")
        if not self.identified:
            # Of all messages together: 64 KiB of small ones would take 0.1 s to decode, and there can be many peers.
            self._bytes_left -= len(data)
            if self._bytes_left < 0:
                raise PeerLostError(
                    f"it sent more than {_MAX_BYTES_UNIDENTIFIED} bytes without having identified itself"
                )
        elif max(map(len, (*lines, self._incomplete))) > _MAX_BYTES_IDENTIFIED:
            raise PeerLostError(f"it sent a message of more than {_MAX_BYTES_IDENTIFIED} bytes")
        self._messages += [_decode(line) for line in lines]


def _decode(line: bytes) -> Message:
    try:
        message = json.loads(line)
        json.dumps(message, ensure_ascii=False).encode()  # raises on lone surrogates, which no other code expects
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise PeerLostError("it does not speak Unisono's protocol")
    return message
