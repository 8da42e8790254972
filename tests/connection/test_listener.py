"""Strangers cannot hold up a listener, nor the peers that it knows."""

import contextlib
import itertools
import socket
import time

import pytest

from unisono_launch.connection import Connection, Listener, Lost, Opened, Received, _listener


@pytest.fixture
def listener():
    with contextlib.closing(Listener(socket.create_server(("127.0.0.1", 0), backlog=128))) as listener:
        yield listener


def call(listener: Listener) -> socket.socket:
    return socket.create_connection(listener._server.getsockname(), timeout=5)


def collect(listener: Listener, kind: type, count: int = 1, seconds: float = 5.0) -> list:
    """The first events of a kind."""
    found: list = []
    deadline = time.monotonic() + seconds
    while len(found) < count:
        assert time.monotonic() < deadline, found
        found += [event for event in listener.events(listener.wait(0.05)) if isinstance(event, kind)]
    return found


def test_peers_are_heard_and_their_end_is_noticed(listener):
    with call(listener) as peer:
        (opened,) = collect(listener, Opened)
        peer.sendall(b'{"a": 1}\n{"b": 2}\n')
        received = collect(listener, Received, 2)
        assert [event.message for event in received] == [{"a": 1}, {"b": 2}]
        assert received[0].connection is opened.connection
    (lost,) = collect(listener, Lost)
    assert (lost.connection, lost.reason) == (opened.connection, "the connection was closed")


def test_a_stranger_that_says_nothing_is_dropped_and_a_known_peer_is_not(listener, monkeypatch):
    monkeypatch.setattr(_listener, "_IDENTIFY_SECONDS", 0.2)
    with call(listener) as silent, call(listener) as known:
        first, second = (event.connection for event in collect(listener, Opened, 2))
        by_port = {connection._socket.getpeername()[1]: connection for connection in (first, second)}
        listener.identify(by_port[known.getsockname()[1]])
        (lost,) = collect(listener, Lost)
        assert (lost.connection, lost.reason) == (by_port[silent.getsockname()[1]], "it did not identify itself")
        known.sendall(b'{"still": "here"}\n')
        assert collect(listener, Received)[0].message == {"still": "here"}


def test_connections_without_end_do_not_keep_a_peer_away(listener):
    crowd = []
    try:
        for _ in range(3):
            crowd += [call(listener) for _ in range(100)]
            collect(listener, Opened, 100)
        assert len(listener._strangers) == 256, "the oldest have made room"
        with call(listener) as peer:
            (opened,) = collect(listener, Opened)
            crowd += [call(listener) for _ in range(20)]
            peer.sendall(b'{"type": "hello"}\n')
            assert collect(listener, Received)[0].connection is opened.connection
    finally:
        for caller in crowd:
            caller.close()


def test_the_address_with_the_most_strangers_makes_room(listener, monkeypatch):
    hosts = itertools.chain(["10.0.0.1"], itertools.repeat("10.0.0.2"))
    monkeypatch.setattr(Connection, "peer_host", property(lambda connection: next(hosts)))
    callers = [call(listener)]
    try:
        (opened,) = collect(listener, Opened)
        for _ in range(3):
            callers += [call(listener) for _ in range(90)]
            collect(listener, Opened, 90)
        assert opened.connection in listener._strangers
        assert len(listener._strangers) == 256
    finally:
        for caller in callers:
            caller.close()


def test_the_last_message_to_a_peer_that_leaves_arrives(listener):
    with call(listener) as peer:
        (opened,) = collect(listener, Opened)
        opened.connection.send({"type": "refused"})
        listener.let_leave(opened.connection)
        peer.sendall(b'{"ignored": true}\n')
        assert list(listener.events(listener.wait(1))) == []
        assert peer.recv(4096) == b'{"type": "refused"}\n'
        assert peer.recv(4096) == b""


def test_what_has_arrived_is_read_before_connections_are_accepted_that_displace_its_sender(listener, monkeypatch):
    monkeypatch.setattr(_listener, "_MAX_STRANGERS", 1)
    with call(listener) as peer:
        (opened,) = collect(listener, Opened)
        peer.sendall(b'{"type": "hello"}\n')
        with call(listener):
            time.sleep(0.05)
            kinds = [
                (type(event), event.connection is opened.connection) for event in listener.events(listener.wait(5))
            ]
    assert kinds == [(Received, True), (Lost, True), (Opened, False)]
