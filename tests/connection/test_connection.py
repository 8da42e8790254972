"""What a peer may send, and how long it may take."""

import json
import socket
import threading
import time

import pytest

from unisono_launch.connection import Connection, PeerLostError


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    connection = Connection(ours)
    yield connection, theirs
    connection.close()
    theirs.close()


def test_messages_arrive_in_order_however_they_are_cut(ends):
    connection, peer = ends
    peer.sendall(b'{"a": 1}\n{"b"')
    assert connection.receive() == [{"a": 1}]
    peer.sendall(b': 2}\n{"c": 3}\n')
    assert connection.receive_one(time.monotonic() + 5) == {"b": 2}
    assert connection.take_received() == [{"c": 3}]


def test_what_is_sent_is_one_line_of_json(ends):
    connection, peer = ends
    connection.send({"type": "über", "lines": "a\nb"})
    assert json.loads(peer.recv(4096)) == {"type": "über", "lines": "a\nb"}


def test_a_file_name_that_is_not_utf_8_can_be_sent(ends):
    connection, peer = ends
    connection.send({"why": b"no file caf\xe9".decode(errors="surrogateescape")})
    assert json.loads(peer.recv(4096)) == {"why": "no file caf?"}


NOISE = {
    "no JSON": b"GET / HTTP/1.1\r\n\r\n",
    "no UTF-8": b"\xff\xfe\n",
    "an empty line": b"\n",
    "no object": b"[1, 2]\n",
    "deeply nested": b"[" * 4000 + b"\n",
    "a lone surrogate": b'{"proof": "\\ud800"}\n',
    "a number with too many digits": b"1" * 4090 + b"\n",
}


@pytest.mark.parametrize("sent", NOISE.values(), ids=NOISE)
def test_anything_but_a_json_object_is_refused(ends, sent):
    connection, peer = ends
    peer.sendall(sent)
    with pytest.raises(PeerLostError, match="it does not speak Unisono's protocol"):
        connection.receive()


@pytest.mark.parametrize("end", [b"", b"\n"], ids=["unfinished", "finished"])
def test_a_stranger_may_not_send_much(ends, end):
    connection, peer = ends
    peer.sendall(b'{"a": "' + b"x" * 5000 + b'"}' + end)
    with pytest.raises(PeerLostError, match="more than 4096 bytes"):
        connection.receive()


def test_a_stranger_may_not_send_many_small_messages(ends):
    connection, peer = ends
    peer.sendall(b"{}\n" * 4000)
    with pytest.raises(PeerLostError, match="more than 4096 bytes without having identified itself"):
        connection.receive()


def test_a_known_peer_may(ends):
    connection, peer = ends
    connection.identified = True
    threading.Thread(target=peer.sendall, args=(b'{"a": "' + b"x" * 500_000 + b'"}\n',)).start()
    assert len(connection.receive_one(time.monotonic() + 5)["a"]) == 500_000


def test_a_peer_that_sends_a_byte_now_and_then_does_not_prolong_the_deadline(ends):
    connection, peer = ends
    done = threading.Event()

    def drip() -> None:
        while not done.wait(0.05):
            peer.sendall(b" ")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        began = time.monotonic()
        with pytest.raises(PeerLostError, match="did not answer in time"):
            connection.receive_one(began + 0.3)
        assert time.monotonic() - began < 2
    finally:
        done.set()
        thread.join()


def test_a_peer_that_hangs_up_is_lost(ends):
    connection, peer = ends
    peer.close()
    with pytest.raises(PeerLostError, match="the connection was closed"):
        connection.receive()
