"""Accepts connections at one address and reads from all of them, so that no peer can hold up another.

Until its owner calls :meth:`Listener.identify`, a peer is a stranger: it has five seconds, and there are 256 of them at
most. A new one displaces the oldest of the address that has the most, so that one machine which opens connections
without end cannot keep other machines away, nor peers of its own address that answer within a round trip: what has
arrived is read before new connections are accepted.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, final

from unisono_launch.connection._connection import Connection, Message, PeerLostError

_IDENTIFY_SECONDS: Final = 5.0
_MAX_STRANGERS: Final = 256
_MAX_ACCEPTED_AT_ONCE: Final = 64


@dataclass(frozen=True)
class Opened:
    """A peer has connected."""

    connection: Connection


@dataclass(frozen=True)
class Received:
    """A peer has sent a message."""

    connection: Connection
    message: Message


@dataclass(frozen=True)
class Lost:
    """A connection was closed, by the peer or because it broke a limit."""

    connection: Connection
    reason: str


Event = Opened | Received | Lost


@dataclass
class _Stranger:
    host: str
    since: float
    is_leaving: bool = False


@final
class Listener:
    """All connections to one listening socket.

    One thread calls :meth:`wait` and then :meth:`events`. Other threads may call the other methods while that one
    waits; an owner with several threads holds a lock around everything but :meth:`wait`.
    """

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._strangers: dict[Connection, _Stranger] = {}
        self._identified: set[Connection] = set()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for waker in (server, self._wake_reader):
            waker.setblocking(False)
            self._selector.register(waker, selectors.EVENT_READ)

    def wait(self, timeout: float) -> Sequence[selectors.SelectorKey]:
        """Waits until something has arrived, at most `timeout` seconds; the result is for :meth:`events`."""
        return [key for key, _ in self._selector.select(timeout)]

    def wake(self) -> None:
        """Lets :meth:`wait` return in the thread that is in it."""
        self._wake_writer.send(b"\0")

    def events(self, ready: Sequence[selectors.SelectorKey]) -> Iterator[Event]:
        """What has happened. A connection that the caller drops or lets leave has no further events."""
        for key in ready:
            if key.fileobj is self._wake_reader:
                self._wake_reader.recv(4096)
            elif isinstance(key.fileobj, Connection):
                yield from self._read(key.fileobj)
        if any(key.fileobj is self._server for key in ready):
            yield from self._accept()
        now = time.monotonic()
        for connection, stranger in tuple(self._strangers.items()):
            if now - stranger.since > _IDENTIFY_SECONDS:
                yield from self._lose(connection, "it did not identify itself")

    def identify(self, connection: Connection) -> None:
        """The peer has identified itself: it may stay, and send large messages."""
        self._strangers.pop(connection, None)
        self._identified.add(connection)
        connection.identified = True

    def let_leave(self, connection: Connection) -> None:
        """Nothing more is sent or heard; closed when the peer hangs up, and after some seconds in any case.

        Closed at once, the connection might take the last message away unread.
        """
        connection.finish_sending()
        self._identified.discard(connection)
        self._strangers[connection] = _Stranger(connection.peer_host, time.monotonic(), is_leaving=True)

    def release(self, connection: Connection) -> socket.socket:
        """Hands over the socket of a peer that has identified itself: its owner reads from it from now on."""
        self._strangers.pop(connection, None)
        self._identified.discard(connection)
        self._selector.unregister(connection)
        return connection.detach()

    def drop(self, connection: Connection) -> None:
        """Closes one connection. No event reports it."""
        self._strangers.pop(connection, None)
        self._identified.discard(connection)
        with contextlib.suppress(KeyError, ValueError):  # closed before
            self._selector.unregister(connection)
        connection.close()

    def close(self) -> None:
        """Closes all connections, and the listening socket."""
        for connection in (*self._strangers, *self._identified):
            self.drop(connection)
        for used in (self._selector, self._server, self._wake_reader, self._wake_writer):
            used.close()

    def _accept(self) -> Iterator[Event]:
        for _ in range(_MAX_ACCEPTED_AT_ONCE):
            try:
                opened, _ = self._server.accept()
            except BlockingIOError:
                return
            except OSError:  # it hung up before it was accepted
                continue
            if len(self._strangers) >= _MAX_STRANGERS:
                yield from self._lose(
                    self._displaceable(), "too many peers have connected without identifying themselves"
                )
            connection = Connection(opened)
            self._strangers[connection] = _Stranger(connection.peer_host, time.monotonic())
            self._selector.register(connection, selectors.EVENT_READ)
            yield Opened(connection)

    def _displaceable(self) -> Connection:
        """The oldest stranger of the address that has the most of them."""
        hosts = Counter(stranger.host for stranger in self._strangers.values())
        crowd = max(hosts, key=hosts.__getitem__)
        return next(connection for connection, stranger in self._strangers.items() if stranger.host == crowd)

    def _read(self, connection: Connection) -> Iterator[Event]:
        if not self._is_open(connection):
            return
        try:
            messages = connection.receive()
        except PeerLostError as lost:
            yield from self._lose(connection, str(lost))
            return
        for message in messages:
            stranger = self._strangers.get(connection)
            if not self._is_open(connection) or (stranger is not None and stranger.is_leaving):
                return
            yield Received(connection, message)

    def _lose(self, connection: Connection, reason: str) -> Iterator[Event]:
        stranger = self._strangers.get(connection)
        self.drop(connection)
        if stranger is None or not stranger.is_leaving:
            yield Lost(connection, reason)

    def _is_open(self, connection: Connection) -> bool:
        return connection in self._strangers or connection in self._identified
