"""Messages that carry arrays: a JSON object and binary buffers, over TCP, between peers that know each other.

    8 bytes   the size of the header, big-endian
    header    {"message": {...}, "sizes": [...]}, JSON
    buffers   of these sizes, one after the other

Nothing is unpickled. A connection becomes one of frames only after its peer has identified itself, so the limits are
against mistakes, not against strangers (`_listener.py` is).
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from unisono_launch.connection._connection import Message, PeerLostError

_MAX_HEADER_BYTES: Final = 1 << 26
_MAX_BUFFER_BYTES: Final = 1 << 36
_LENGTH: Final = struct.Struct(">Q")

# A machine that is switched off does not close its connections: these probes notice it.
_IDLE_SECONDS, _PROBE_SECONDS, _PROBES = 20, 10, 4
# While sent data is not acknowledged there are no probes, and Linux would try for 15 minutes. With this limit it tries
# for two, and probes idle connections as long, whatever the number of probes says (tcp(7)). Not less, because a peer
# that lives and does not read for so long is dropped as well.
_UNACKNOWLEDGED_MILLISECONDS: Final = 120_000


@final
class FrameConnection:
    """One end of a connection that carries frames. Any thread may send; one thread receives.

    >>> ours, theirs = (FrameConnection(end) for end in socket.socketpair())
    >>> ours.send({"type": "read"}, [b"abc"])
    >>> message, buffers = theirs.receive()
    >>> message, bytes(buffers[0])
    ({'type': 'read'}, b'abc')
    >>> ours.close(), theirs.close()
    (None, None)
    """

    def __init__(self, opened: socket.socket) -> None:
        self._socket = opened
        self._socket.settimeout(None)
        self._sending = threading.Lock()
        if opened.family in (socket.AF_INET, socket.AF_INET6):
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in (
                ("TCP_KEEPIDLE", _IDLE_SECONDS),
                ("TCP_KEEPINTVL", _PROBE_SECONDS),
                ("TCP_KEEPCNT", _PROBES),
                ("TCP_USER_TIMEOUT", _UNACKNOWLEDGED_MILLISECONDS),
            ):
                if hasattr(socket, name):  # macOS has neither TCP_KEEPIDLE nor TCP_USER_TIMEOUT
                    opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def send(self, message: Mapping[str, Any], buffers: Sequence[Any] = ()) -> None:
        """Sends one message with its buffers; raises :class:`PeerLostError`."""
        views = [memoryview(buffer).cast("B") for buffer in buffers]
        header = json.dumps({"message": message, "sizes": [view.nbytes for view in views]}).encode()
        try:
            with self._sending:
                self._socket.sendall(_LENGTH.pack(len(header)) + header)
                for view in views:
                    self._socket.sendall(view)
        except OSError as error:
            raise PeerLostError(f"the connection broke: {error.strerror or error}") from None

    def receive(self) -> tuple[Message, list[memoryview]]:
        """Waits for the next message and its buffers; raises :class:`PeerLostError`."""
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        if length > _MAX_HEADER_BYTES:
            raise PeerLostError(f"it sent a header of more than {_MAX_HEADER_BYTES} bytes")
        message, sizes = _decode(self._read(length))
        return message, [self._read(size) for size in sizes]

    def shut_down(self) -> None:
        """Ends the connection for both sides: also a :meth:`receive` that waits in another thread."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close()

    def _read(self, size: int) -> memoryview:
        view = memoryview(bytearray(size))
        done = 0
        while done < size:
            try:
                count = self._socket.recv_into(view[done:])
            except OSError as error:
                raise PeerLostError(f"the connection broke: {error.strerror or error}") from None
            if not count:
                raise PeerLostError("the connection was closed")
            done += count
        return view


def _decode(header: memoryview) -> tuple[Message, list[int]]:
    try:
        content = json.loads(bytes(header))
        message, sizes = content["message"], content["sizes"]
        valid = isinstance(message, dict) and all(type(size) is int and size >= 0 for size in sizes)
        valid = valid and sum(sizes) <= _MAX_BUFFER_BYTES
    except (KeyError, RecursionError, TypeError, ValueError):
        valid = False
    if not valid:
        raise PeerLostError("it does not speak Unisono's protocol")
    return message, sizes
