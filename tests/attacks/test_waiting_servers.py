"""Both servers of a job, each in a thread, under every attack: those that belong there join, and only those."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.attacks._attacks import ATTACKS, Attackers, everything
from unisono._src.processes._rendezvous import Rendezvous, wait_for_workers
from unisono_launch.launch._coordinator_client import CoordinatorClient
from unisono_launch.launch._coordinator_server import CoordinatorServer
from unisono_launch.launch._events import Event, ThreadCrashed
from unisono_launch.launch._protocol import VERSION, JoinRequirements

SECRET = "that of the job"
ALIKE = {"JAX": "0.10.2", "Keras": "3.15.1", "the number of workers": 3}
WORKER_HELLO = {"type": "hello", "version": 2, "index": 1, "alike": ALIKE}
LAUNCHER_HELLO = {"type": "hello", "version": VERSION, "node": 1, "host": "a", "nnodes": "1:3", "workers": 1}
# Of one kind each, before anyone joins. All kinds together are tried with more.
CONNECTIONS, CONNECTIONS_OF_ALL_KINDS = 40, 1500

EVERY_ATTACK = [
    *(pytest.param(attack, CONNECTIONS, id=name.replace(" ", "-")) for name, attack in ATTACKS.items()),
    pytest.param(everything, CONNECTIONS_OF_ALL_KINDS, id="everything", marks=pytest.mark.slow),
]


def free_address() -> tuple[str, int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(("attack", "connections"), EVERY_ATTACK)
def test_workers_find_each_other_under_attack(attack, connections) -> None:
    address = free_address()

    def join(index: int) -> str:
        names = ("worker 0", "worker 1", "worker 2")
        return wait_for_workers(Rendezvous("{}:{}".format(*address), index, names, 30.0, SECRET), ALIKE)

    with ThreadPoolExecutor() as pool, Attackers(address, attack, WORKER_HELLO, SECRET) as attackers:
        chief = pool.submit(join, 0)
        attackers.wait_for(connections)
        assert not chief.done(), chief.exception()
        assert [worker.result() for worker in [pool.submit(join, 1), pool.submit(join, 2), chief]] == ["127.0.0.1"] * 3


class Launchers:
    """A coordinator's server, and launchers that join it."""

    def __init__(self) -> None:
        self.address = free_address()
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        requirements = JoinRequirements(nnodes="1:3", max_machines=3, num_local_workers=1, secret=SECRET)
        self.server = CoordinatorServer(socket.create_server(self.address, backlog=128), requirements, self.events)
        self._joined: list[CoordinatorClient] = []

    def join(self, node: int) -> CoordinatorClient:
        hello = LAUNCHER_HELLO | {"node": node}
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        client = CoordinatorClient(self.address, window=30, secret=SECRET, hello=hello, events=events)
        self._joined.append(client)
        return client

    def wait_for(self, *nodes: int) -> None:
        deadline = time.monotonic() + 30
        while list(self.server.present) != list(nodes):
            assert time.monotonic() < deadline, self.server.present
            time.sleep(0.01)

    def close(self) -> None:
        leaving = [threading.Thread(target=client.close) for client in self._joined]
        for thread in leaving:
            thread.start()
        self.server.finish(0, "the test has ended")
        for thread in leaving:
            thread.join()


@pytest.fixture
def launchers() -> Iterator[Launchers]:
    launchers = Launchers()
    yield launchers
    launchers.close()


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(("attack", "connections"), EVERY_ATTACK)
def test_launchers_join_and_stay_under_attack(launchers: Launchers, attack, connections) -> None:
    with Attackers(launchers.address, attack, LAUNCHER_HELLO, SECRET) as attackers:
        attackers.wait_for(connections)
        client = launchers.join(1)
        launchers.wait_for(1)
        attackers.wait_for(connections // 2)
        launchers.join(2)
        launchers.wait_for(1, 2)
        launchers.server.begin_attempt(0, "", {0: "a", 1: "b", 2: "c"}, (1, 2, 3))
        assert client.orders.get(timeout=30)["type"] == "go"
        attackers.wait_for(connections // 2)
        assert list(launchers.server.present) == [1, 2]
        assert not launchers.server.losses
    crashed = [event for event in _drain(launchers.events) if isinstance(event, ThreadCrashed)]
    assert not crashed


def _drain(events: queue.SimpleQueue[Event]) -> Iterator[Event]:
    while not events.empty():
        yield events.get()
