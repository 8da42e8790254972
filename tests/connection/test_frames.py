"""Messages with binary buffers: what arrives, and what is refused."""

import json
import socket
import struct
import threading

import pytest

from unisono_launch.connection import FrameConnection, PeerLostError


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    connection = FrameConnection(ours)
    yield connection, theirs
    connection.close()
    theirs.close()


def test_messages_and_buffers_arrive_whole(ends):
    connection, peer = ends
    other = FrameConnection(peer)
    large = bytes(range(256)) * 4096
    sender = threading.Thread(target=other.send, args=({"type": "read", "name": "über"}, [b"", large, b"x"]))
    sender.start()
    message, buffers = connection.receive()
    sender.join()
    assert message == {"type": "read", "name": "über"}
    assert [bytes(buffer) for buffer in buffers] == [b"", large, b"x"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff" * 8, "a header of more than"),
        (struct.pack(">Q", 2) + b"[]", "does not speak"),
        (struct.pack(">Q", 3) + b"{{{", "does not speak"),
        (struct.pack(">Q", 30) + b"[" * 30, "does not speak"),
        (b'\0\0\0\0\0\0\0"' + json.dumps({"message": {}, "sizes": [1 << 40]}).encode()[:34], "does not speak"),
        (b'\0\0\0\0\0\0\0"' + json.dumps({"message": {}, "sizes": [-1]}).encode().ljust(34), "does not speak"),
        (b"\0\0\0", "was closed"),
        (struct.pack(">Q", 100) + b"{", "was closed"),
    ],
)
def test_what_is_no_message_is_refused(ends, data, why):
    connection, peer = ends
    peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
    with pytest.raises(PeerLostError, match=why):
        connection.receive()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux has it")
def test_a_lost_machine_is_noticed_while_data_is_on_its_way():
    """A network that drops packets needs root: this sees only what the kernel is asked for."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as opened:
        FrameConnection(opened)
        assert 0 < opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 120_000


def test_a_receiver_is_woken_when_the_connection_is_shut_down(ends):
    connection, _ = ends
    waker = threading.Timer(0.05, connection.shut_down)
    waker.start()
    with pytest.raises(PeerLostError):
        connection.receive()
    waker.join()
