"""A connection between two tasks: both have proved that they know the secret of the job, and exchange arrays.

task server                              client: the chief, or a worker that uses a parameter server
challenge: nonce                  ──>
                                  <──    hello: version, role, job, nonce, proof
welcome: proof, ...  (or refused) ──>
                                  <──    requests, each of which is answered in turn
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from typing import Any, Final, final

from unisono._src.core import read_environment
from unisono._src.parameter_servers._arrays import Array, decode_arrays, encode_arrays
from unisono_launch.cluster import split_address
from unisono_launch.connection import (
    Connection,
    FrameConnection,
    Message,
    PeerLostError,
    is_proof,
    make_proof,
    new_nonce,
)

VERSION: Final = 1
_CONNECT_SECONDS: Final = 5.0

WRONG_SECRET = (
    "it knows another UNISONO_JOB_SECRET than this process, or none: set the same in all processes of the job"
)


class RefusedError(Exception):
    """The peer answers, but will never accept this process: another version, another secret."""


class RequestError(Exception):
    """The peer could not do what was asked. ``kind`` is what it calls the error."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


@final
class Channel:
    """The client's end. Any thread may call :meth:`request`; one request is under way at a time."""

    def __init__(self, frames: FrameConnection, welcome: Message) -> None:
        self._frames = frames
        self._lock = threading.Lock()
        self.welcome = welcome
        """What the server said about itself."""

    @classmethod
    def open(cls, address: str, role: str, job: str) -> Channel:
        """Connects to a task server; raises :class:`PeerLostError` or :class:`RefusedError`."""
        secret, nonce = read_environment().job_secret, new_nonce()
        try:
            opened = socket.create_connection(split_address(address), timeout=_CONNECT_SECONDS)
        except OSError as error:
            raise PeerLostError(str(error.strerror or error)) from None
        connection = Connection(opened)
        try:
            deadline = time.monotonic() + _CONNECT_SECONDS
            challenge = str(connection.receive_one(deadline).get("nonce"))
            proof = make_proof(secret, "task client", challenge, nonce)
            hello = {"type": "hello", "version": VERSION, "role": role, "job": job, "nonce": nonce, "proof": proof}
            connection.send(hello)
            welcome = connection.receive_one(deadline)
            if welcome.get("type") != "welcome":
                raise RefusedError(str(welcome.get("why", "it does not speak Unisono's protocol")))
            if not is_proof(welcome.get("proof"), secret, "task server", challenge, nonce):
                raise RefusedError(WRONG_SECRET)
            return cls(FrameConnection(connection.detach()), welcome)
        except BaseException:
            connection.close()
            raise

    def request(self, message: Message, arrays: Sequence[Any] = (), data: bytes = b"") -> tuple[Message, list[Array]]:
        """Asks, and waits for the answer; raises :class:`PeerLostError` or :class:`RequestError`."""
        with self._lock:
            self.start(message, arrays, data)
            return self.finish()

    def start(self, message: Message, arrays: Sequence[Any] = (), data: bytes = b"") -> None:
        """Sends a request without waiting, for a caller that is alone with this channel."""
        send(self._frames, message, arrays, data)

    def finish(self) -> tuple[Message, list[Array]]:
        """Waits for the answer to :meth:`start`."""
        answer, arrays, _ = receive(self._frames)
        if "error" in answer:
            raise RequestError(str(answer.get("kind")), str(answer["error"]))
        return answer, arrays

    def close(self) -> None:
        """Ends the connection; a request that waits in another thread raises :class:`PeerLostError`."""
        self._frames.shut_down()
        self._frames.close()


def send(frames: FrameConnection, message: Message, arrays: Sequence[Any] = (), data: bytes = b"") -> None:
    """Sends a message with arrays and, for programs, bytes."""
    specs, buffers = encode_arrays(arrays)
    frames.send({**message, "arrays": specs}, [*buffers, data] if data else buffers)


def receive(frames: FrameConnection) -> tuple[Message, list[Array], bytes]:
    """What :func:`send` sent."""
    message, buffers = frames.receive()
    specs = message.pop("arrays", None)
    if not isinstance(specs, list) or not 0 <= len(buffers) - len(specs) <= 1:
        raise PeerLostError("it does not speak Unisono's protocol")
    data = bytes(buffers.pop()) if len(buffers) > len(specs) else b""
    return message, decode_arrays(specs, buffers), data
