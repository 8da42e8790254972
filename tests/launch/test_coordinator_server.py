"""What the coordinator launcher sends to the other launchers."""

import queue
import socket
import time

from unisono_launch.connection import Connection, make_proof, new_nonce
from unisono_launch.launch._coordinator_server import CoordinatorServer
from unisono_launch.launch._protocol import VERSION, JoinRequirements

REQUIREMENTS = JoinRequirements(nnodes="1:3", max_machines=3, num_local_workers=1, secret="")


def join(port: int, node: int) -> Connection:
    """A launcher that has joined."""
    connection = Connection(socket.create_connection(("127.0.0.1", port)))
    challenge, nonce = next_message(connection)["nonce"], new_nonce()
    proof = make_proof("", "joining launcher", challenge, nonce)
    hello = {"version": VERSION, "node": node, "host": f"host{node}", "nnodes": "1:3", "workers": 1}
    connection.send({"type": "hello", **hello, "nonce": nonce, "proof": proof})
    assert next_message(connection)["type"] == "welcome"
    return connection


def next_message(connection: Connection) -> dict:
    while (message := connection.receive_one(time.monotonic() + 10))["type"] == "beat":
        continue
    return message


def test_a_machine_that_left_before_the_attempt_began_ends_it_for_those_that_began_it():
    """An "end" before the "go" would be for no attempt, and the machine would train without its peer."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = CoordinatorServer(listening, REQUIREMENTS, queue.SimpleQueue())
    launcher = join(listening.getsockname()[1], 2)
    try:
        server.begin_attempt(0, "", {0: "host0", 1: "host1", 2: "host2"}, (29500,))
        assert [next_message(launcher)["type"] for _ in range(2)] == ["go", "end"]
        assert server.losses.keys() == {1}
    finally:
        launcher.close()
        server.finish(0, "the test is over")
